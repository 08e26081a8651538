"""The kernels of each game behind one interface: what environments and batches are built on."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from war_envs.cards import NAMES, GameName, parse
from war_envs.engine import record
from war_envs.engine.kernels import TERMINATED, VACANT, Record, Records
from war_envs.engine.layout import Layout, expand
from war_envs.engine.protocols import GameModule, TurnBasedRules
from war_envs.games import SPECS, GameSpec
from war_envs.messages import shown
from war_envs.variant import Variant

Hands = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Observer:
    """Writes observations of one encoding.

    Attributes:
        size, dtype: of one observation, (size,).
        write: a kernel. ``write(games, first, last, rows, seats, perfect, filler, out, masks)``
            writes observations and masks of the pairs ``first`` to ``last - 1`` of ``rows`` and
            ``seats`` (int64 (K,): in which games, and whose view), with perfect memory or just the
            table, into ``out`` (K, size) and ``masks`` (int8 (K, num_actions)); ``filler``, 0 or 1,
            fills the masks of those who have nothing to choose.
    """

    size: int
    dtype: np.dtype[Any]
    write: Callable[..., None]


@dataclass(frozen=True)
class Engine:
    """One game's record, kernels and names.

    Attributes:
        spec: the game.
    """

    spec: GameSpec

    def __reduce__(self) -> tuple[Any, ...]:
        return _engine, (self.game,)  # a module cannot be copied, and need not be

    @property
    def game(self) -> GameName:
        """The game's name."""
        return self.spec.name

    @cached_property
    def module(self) -> GameModule:
        """The game's package."""
        return self.spec.module

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The game record."""
        return self.module.rules.GAME

    @cached_property
    def layout(self) -> Layout:
        """How observations are laid out."""
        return self.module.observation.LAYOUT

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, by number."""
        return self.module.words.ACTIONS

    @cached_property
    def info_keys(self) -> tuple[str, ...]:
        """The numbers of an info by name, in the order of the kernel ``facts``."""
        return tuple(inspect.signature(self.module.info.numbers).parameters)[:-1]

    @cached_property
    def num_actions(self) -> int:
        """How many actions there are."""
        return len(self.actions)

    @property
    def simultaneous(self) -> bool:
        """Do both players choose at once?"""
        return self.spec.simultaneous

    def new_games(self, variant: Variant, number: int) -> Records:
        """``number`` records of a variant, not dealt yet and with no generator state."""
        return record.new_games(self.module, variant, number)

    def deal(self, games: Records, rows: NDArray[np.int64]) -> None:
        """Deals the games of ``rows`` anew, each from its own generator."""
        self._quietly(self.module.rules.deal_rows, games, rows)

    def start(self, games: Records, rows: NDArray[np.int64]) -> None:
        """Starts the games of ``rows``, whose hands have just been laid with `lay_hands`."""
        self._quietly(self.module.rules.start_rows, games, rows)

    @staticmethod
    def _quietly(function: Callable[..., Any], *args: Any) -> Any:
        # With the JIT off, NumPy would warn of the generator's intended overflows.
        with np.errstate(over="ignore"):
            return function(*args)

    def play(self, games: Records, actions: NDArray[np.int64]) -> None:
        """Plays ``actions`` (int64, (B, 2)), which must be legal, in all games that still run."""
        self.module.rules.play_rows(games, actions)

    def step(
        self,
        games: Records,
        span: tuple[int, int],
        actions: NDArray[np.int64],
        autoreset: bool,
        reward: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        ended: NDArray[np.int64],
        finals: Records,
    ) -> int:
        """`play` in games ``span[0]`` to ``span[1] - 1``, and what comes of it.

        Args:
            autoreset: deal games that end anew.
            reward, terminated, truncated: float32 (B, 2), bool (B,), bool (B,): written to.
            ended, finals: int64 (B,) and records (B,): from place ``span[0]`` on, which games have
                ended, and how they stood then.

        Returns:
            How many have ended.
        """
        step_rows = self.module.rules.step_rows
        outcome = (reward, terminated, truncated, ended, finals)
        return int(self._quietly(step_rows, games, *span, actions, autoreset, *outcome))

    def forfeit(self, games: Records, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> None:
        """The running games of ``rows`` (K,), distinct, are lost by ``seats`` (K,)."""
        games["status"][rows] = TERMINATED
        games["winner"][rows] = 1 - seats

    def facts(self, games: Records, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Infos of the games of ``rows`` (K,): int64 (entries, K), in the order of `info_keys`."""
        # Rows that lie a power of two apart would drive each other out of the cache: hence 8 more.
        out = np.empty((len(self.info_keys), len(rows) + 8), np.int64)[:, : len(rows)]
        self.module.rules.facts_rows(games, rows, out)
        return out

    def movers(self, games: Records, first: int, last: int, out: NDArray[np.int64]) -> None:
        """Writes whose turn it is in games ``first`` to ``last - 1`` into ``out`` (B,).

        That of a finished game means nothing, nor does any where both players choose at once.
        """
        cast(TurnBasedRules, self.module.rules).movers(games, first, last, out)

    def is_legal(self, games: Records, row: int, seat: int, action: int) -> bool:
        """Is ``action`` legal for ``seat`` in game ``row`` now?"""
        return bool(self.module.rules.is_legal(games, row, seat, action))

    def observer(self, encoding: str, deck_size: int, later_modes: int) -> Observer:
        """What writes observations of one encoding for decks of one size."""
        found = self._observers.get((encoding, deck_size, later_modes))
        if found is None:
            found = self._make_observer(encoding, deck_size, later_modes)
            self._observers[encoding, deck_size, later_modes] = found
        return found

    @cached_property
    def _observers(self) -> dict[tuple[str, int, int], Observer]:
        return {}

    def _make_observer(self, encoding: str, deck_size: int, later_modes: int) -> Observer:
        layout, kernels = self.layout, self.module.observation
        write: Callable[..., None] = kernels.observe_tokens
        if encoding == "vector":
            tables = layout.scales, layout.features, layout.size("tokens", deck_size)
            write = partial(kernels.observe_vector, *tables)
        size = layout.size(encoding, deck_size, later_modes)
        return Observer(size, layout.dtype(encoding), write)

    @cached_property
    def global_layout(self) -> Layout:
        """How the whole game is laid out as one array."""
        return self.module.global_state.LAYOUT

    def global_state(self, games: Records, encoding: str, variant: Variant) -> NDArray[Any]:
        """All of the first of ``games``, whatever players know: one array of its own, (F,)."""
        layout, deck_size = self.global_layout, variant.deck_size
        size = layout.size("tokens", deck_size)
        tokens: NDArray[Any] = np.empty((1, size + variant.num_later_modes), np.uint8)
        self.module.global_state.write_tokens(games, 0, tokens)
        if encoding == "tokens":
            return tokens.reshape(-1)
        vector: NDArray[Any] = np.empty((1, layout.size(encoding, deck_size)), np.float32)
        features = layout.features
        expand(tokens[:, :size].copy(), layout.scales, features, features.shape[1], vector, 0)
        return np.concatenate([vector[0], tokens[0, size:]], dtype=np.float32)

    def redeal(self, games: Records, row: int, who: int) -> None:
        """Exchanges the cards of game ``row`` that ``who`` (a seat or `PUBLIC`) does not know."""
        self._quietly(self.module.knowledge.redeal, games, row, who)

    def lay_hands(self, games: Records, row: int, hands: Sequence[Sequence[int]]) -> None:
        """Lays two hands of cards, top first, into one record."""
        games["hands"][row] = VACANT
        for player, hand in enumerate(hands):
            games["hands"][row, player, : len(hand)] = hand
            games["heads"][row, player] = 0
            games["sizes"][row, player] = len(hand)

    def parse_hands(self, variant: Variant, hands: object) -> list[list[int]]:
        """Two hands of card names, top first, as cards.

        Raises:
            ValueError: not two non-empty sequences of distinct cards of the variant's deck.
        """
        pair = _sequence(hands)
        given = [_sequence(hand) for hand in pair or ()]
        if len(given) != 2 or None in given:
            raise ValueError(
                f"hands={shown(hands)} is not allowed; give two sequences of card names"
            )
        parsed = [[parse(self.game, name) for name in hand or ()] for hand in given]
        for player, hand in enumerate(parsed):
            if not hand:
                raise ValueError(f"hands[{player}] is empty; each hand needs a card")
        together = parsed[0] + parsed[1]
        deck = set(variant.deck)
        for card in together:
            name = NAMES[self.game][card]
            if card not in deck:
                raise ValueError(
                    f"hands holds {name}, which is not in the deck of "
                    f"{variant.name} with num_ranks={variant.num_ranks}"
                )
            if together.count(card) > 1:
                raise ValueError(f"hands holds {name} twice; cards must be distinct")
        return parsed

    def hand(self, game: Record, player: int) -> list[int]:
        """The cards of a player's hand, top first."""
        return record.hand(game, player)

    def card_names(self, cards: Sequence[int]) -> list[str]:
        """The names of cards."""
        return [NAMES[self.game][card] for card in cards]

    def known(self, game: Record, viewer: int) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does the viewer know the card at that place?"""
        seen = self.module.record.seen(game, viewer)
        first, second = (
            [bool(seen >> card & 1) for card in self.hand(game, player)] for player in (0, 1)
        )
        return first, second

    def table(self, game: Record) -> list[int]:
        """The cards on the table, in the order they were laid."""
        return self.module.record.table(game)

    def saved(self, games: Records) -> dict[str, NDArray[Any]]:
        """How games (B,) stand, as arrays (B, ...): what `restored` takes."""
        return record.saved(self.module, games)

    def restored(self, variants: Sequence[Variant], fields: Mapping[str, NDArray[Any]]) -> Records:
        """The records (B,) of what `saved` gave, game i of ``variants[i]``.

        Raises:
            ValueError: other arrays, or games that cannot be, naming the field.
        """
        return record.restored(self.module, variants, fields)


def _engine(game: GameName) -> Engine:
    return ENGINES[game]


def _sequence(value: object) -> list[Any] | None:
    """``value`` as a list, or None if it is no sequence (a string is none here)."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None


ENGINES: Final[dict[GameName, Engine]] = {spec.name: Engine(spec) for spec in SPECS.values()}
