"""The kernels of each game behind one interface: what environments and batches are built on."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_envs import attack_defence, strategic_war
from war_envs.cards import NAMES, NUM_CARDS, GameName, parse
from war_envs.engine.kernels import (
    NO_CARD,
    RING,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    VACANT,
    Record,
    Records,
)
from war_envs.engine.layout import Encoding, expand
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
        game: its name.
        module: the package with its ``rules``, ``observation`` and ``words``.
    """

    game: GameName
    module: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return _engine, (self.game,)  # a module cannot be copied, and need not be

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The game record."""
        dtype: np.dtype[Any] = self.module.rules.GAME
        return dtype

    @cached_property
    def encoding(self) -> Encoding:
        """How observations are laid out."""
        encoding: Encoding = self.module.observation.ENCODING
        return encoding

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, by number."""
        return tuple(self.module.words.ACTIONS)

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
        return self.game == "attack-defence"

    def new_games(self, variant: Variant, number: int) -> Records:
        """``number`` records of a variant, not dealt yet and with no generator state."""
        games = np.zeros(number, self.dtype)
        games["num_ranks"] = variant.num_ranks
        games["max_turns"] = variant.turn_limit
        for mode in ("minimal", "fair", "open_cards"):
            games[mode] = getattr(variant, mode)
        if self.game == "attack-defence":
            games["own_first"] = variant.own_card == "first"  # type: ignore[union-attr]
        else:
            games["first"] = -1
        return games

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

    def facts(self, games: Records, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Infos of the games of ``rows`` (K,): int64 (entries, K), in the order of `info_keys`."""
        # Rows that lie a power of two apart would drive each other out of the cache: hence 8 more.
        out = np.empty((len(self.info_keys), len(rows) + 8), np.int64)[:, : len(rows)]
        self.module.rules.facts_rows(games, rows, out)
        return out

    def is_legal(self, games: Records, row: int, seat: int, action: int) -> bool:
        """Is ``action`` legal for ``seat`` in game ``row`` now?"""
        return bool(self.module.rules.is_legal(games, row, seat, action))

    def observer(self, encoding: str, deck_size: int) -> Observer:
        """What writes observations of one encoding for decks of one size."""
        found = self._observers.get((encoding, deck_size))
        if found is None:
            found = self._observers[encoding, deck_size] = self._make_observer(encoding, deck_size)
        return found

    @cached_property
    def _observers(self) -> dict[tuple[str, int], Observer]:
        return {}

    def _make_observer(self, encoding: str, deck_size: int) -> Observer:
        layout, kernels = self.encoding, self.module.observation
        write = kernels.observe_tokens
        if encoding == "vector":
            tables = layout.scales, layout.features, layout.size("tokens", deck_size)
            write = partial(kernels.observe_vector, *tables)
        return Observer(layout.size(encoding, deck_size), layout.dtype(encoding), write)

    @cached_property
    def global_encoding(self) -> Encoding:
        """How the whole game is laid out as one array."""
        encoding: Encoding = self.module.global_state.ENCODING
        return encoding

    def global_state(self, games: Records, encoding: str, deck_size: int) -> NDArray[Any]:
        """All of the first of ``games``, whatever players know: one array of its own, (F,)."""
        layout = self.global_encoding
        tokens: NDArray[Any] = np.empty((1, layout.size("tokens", deck_size)), np.uint8)
        self.module.global_state.write_tokens(games, 0, tokens)
        if encoding == "tokens":
            return tokens.reshape(-1)
        vector: NDArray[Any] = np.empty((1, layout.size(encoding, deck_size)), np.float32)
        features = layout.features
        expand(tokens, layout.scales, features, features.shape[1], vector, 0)
        return vector.reshape(-1)

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
        places = (int(game["heads"][player]) + np.arange(int(game["sizes"][player]))) % RING
        return [int(card) for card in game["hands"][player][places]]

    def card_names(self, cards: Sequence[int]) -> list[str]:
        """The names of cards."""
        return [NAMES[self.game][card] for card in cards]

    def known(self, game: Record, viewer: int) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does the viewer know the card at that place?"""
        seen = int(game["seen"][viewer] if self.simultaneous else game["seen"])
        first, second = (
            [bool(seen >> card & 1) for card in self.hand(game, player)] for player in (0, 1)
        )
        return first, second

    def table(self, game: Record) -> list[int]:
        """The cards on the table, in the order they were laid."""
        return [] if self.simultaneous else game["table"][: game["table_size"]].tolist()

    def check_record(self, games: Records, variant: Variant) -> None:
        """Refuses one record that no game of ``variant`` can reach, as far as kernels rely on it.

        Raises:
            ValueError: naming the field.
        """
        game = games[0]
        fresh = self.new_games(variant, 1)[0]
        fixed = ["num_ranks", "max_turns", "minimal", "fair", "open_cards"]
        fixed += ["own_first"] if self.simultaneous else []
        for field in fixed:
            if game[field] != fresh[field]:
                raise ValueError(
                    f"state: {field} is {game[field]}, the environment's {fresh[field]}"
                )
        ranges = {"heads": (0, RING - 1), "sizes": (0, NUM_CARDS), "turn": (0, variant.turn_limit)}
        ranges |= {"twins": (0, 1), "status": (0, 2), "winner": (-1, 1)}
        ranges |= {"last_action": (-1, self.num_actions - 1), "last_taker": (-1, 1)}
        if not self.simultaneous:
            ranges |= {"table_size": (0, NUM_CARDS), "attacker": (0, 1), "phase": (0, 3)}
            ranges |= {"first": (-1, 1), "last_ending": (0, 3), "last_taken": (0, NUM_CARDS)}
            ranges |= {"last_chooser": (-1, 1)}
        for field, (low, high) in ranges.items():
            if np.any(game[field] < low) or np.any(game[field] > high):
                raise ValueError(f"state: {field} is {game[field]}, allowed are {low} to {high}")
        for field in ("last_card", "last_extra") if self.simultaneous else ("last_card",):
            if np.any((game[field] >= NUM_CARDS) & (game[field] != NO_CARD)):
                raise ValueError(f"state: {field} is {game[field]}, which is no card")
        in_play = self.hand(game, 0) + self.hand(game, 1) + self.table(game)
        if len(set(in_play)) != len(in_play) or not set(in_play) <= set(variant.deck):
            raise ValueError("state: the cards in play are not distinct cards of the deck")
        if int(game["in_play"]) != sum(1 << card for card in in_play):
            raise ValueError("state: in_play does not match the cards of hands and table")
        self._check_vacant(game)
        derived = games.copy()
        self.module.rules.rebuild_rows(derived, np.zeros(1, np.int64))
        for field in ("unseen", "views"):
            if np.any(derived[0][field] != game[field]):
                raise ValueError(f"state: {field} does not match the hands and what has been seen")
        self._check_knowledge(game)
        self._check_progress(game)
        self._check_last(game)
        if not game["rng"].any():
            raise ValueError("state: rng is all zero")

    def _check_vacant(self, game: Record) -> None:
        """Where no card lies nothing is left of an earlier one."""
        filled = [(int(game["heads"][p]) + np.arange(int(game["sizes"][p]))) % RING for p in (0, 1)]
        vacant = [np.delete(game["hands"][p], filled[p]) for p in (0, 1)]
        vacant.append(game["spare"] if self.simultaneous else game["table"][game["table_size"] :])
        if any(np.any(places != VACANT) for places in vacant):
            raise ValueError("state: there are cards where none can lie")

    @staticmethod
    def _check_knowledge(game: Record) -> None:
        """Only cards in play are seen: all of them if open; and twins tell only if all have one."""
        in_play, seen = int(game["in_play"]), np.ravel(game["seen"]).tolist()
        if any(cards & ~in_play or (game["open_cards"] and cards != in_play) for cards in seen):
            raise ValueError("state: seen does not match the cards in play")
        red = in_play & 0x5555555555555555
        if game["twins"] and not (game["fair"] and in_play == red | red << 1):
            raise ValueError("state: twins is 1, but the cards in play are no Fair deal")

    def _check_progress(self, game: Record) -> None:
        """Status, turns, winner, phase, hands and table must go together."""
        running, ended = game["status"] == RUNNING, game["status"] == TERMINATED
        if running and game["turn"] >= game["max_turns"]:
            raise ValueError(f"state: the game runs, but turn is {game['turn']}, its limit")
        if game["status"] == TRUNCATED and game["turn"] != game["max_turns"]:
            raise ValueError(f"state: the game is truncated at turn {game['turn']}, not its limit")
        if (game["winner"] >= 0) > ended or (self.simultaneous and ended and game["winner"] < 0):
            raise ValueError(f"state: winner is {game['winner']} with status {game['status']}")
        if not running:
            return
        laid, holders = (0, [0, 1]) if self.simultaneous else self.module.rules.due(game)
        if len(self.table(game)) % 8 != laid:
            raise ValueError("state: table_size does not fit the phase")
        if not game["sizes"][holders].all():
            raise ValueError("state: the game runs, but a hand is empty")

    def _check_last(self, game: Record) -> None:
        """What happened last must be told by all fields or by none."""
        if self.simultaneous:
            told = [*(game["last_action"] >= 0), *(game["last_card"] != NO_CARD)]
            right = set(told) == {game["turn"] > 0}
            right &= game["turn"] > 0 or (game["last_extra"] == NO_CARD and game["last_taker"] < 0)
        else:
            collected = [game["last_taker"] >= 0, game["last_ending"] > 0, game["last_taken"] > 0]
            chooser, begun = game["last_chooser"], bool(game["turn"] or game["table_size"])
            right = set(collected) == {game["turn"] > 0} and begun == (chooser >= 0)
            flips = np.isin(game["last_action"], (0, 1))
            right &= begun == bool(np.any(game["last_action"] >= 0))
            right &= not begun or game["last_action"][chooser] >= 0
            right &= not np.any(flips & (game["last_card"] == NO_CARD))
        if not right:
            raise ValueError("state: what is told of the last choice does not fit the game")


def _engine(game: GameName) -> Engine:
    return ENGINES[game]


def _sequence(value: object) -> list[Any] | None:
    """``value`` as a list, or None if it is no sequence (a string is none here)."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None


ENGINES: Final[dict[GameName, Engine]] = {
    "attack-defence": Engine("attack-defence", attack_defence),
    "strategic-war": Engine("strategic-war", strategic_war),
}
