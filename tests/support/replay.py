"""Games that reach every line and branch of the kernels, and a digest of all that they show.

Run as a program it prints the digests; ``NUMBA_DISABLE_JIT=1`` and coverage tell what was reached.
"""

import hashlib
import json
from itertools import product
from typing import Any

import numpy as np

from tests.reference.cards import Game
from tests.support.decks import GAMES, Options, modes
from tests.support.envs import raw_env
from war_envs.batch import Batch, make_batch
from war_envs.engine.engine import ENGINES

KINDS = list(product(("vector", "tokens"), ("perfect", "table")))
# Enough games for every way in which one of Strategic War can run out of cards.
STEPS = {"attack-defence": 20, "strategic-war": 30}
LANES = {"attack-defence": 8, "strategic-war": 24}


def legal_actions(batch: Batch, game: Game, rng: np.random.Generator) -> Any:
    """A random legal action for each seat that acts."""
    engine, actions = ENGINES[game], np.zeros((batch.num_games, 2), np.int64)
    for row, seat in np.argwhere(batch.acting):
        legal = [
            action
            for action in range(batch.num_actions)
            if engine.is_legal(batch.games, row, seat, action)
        ]
        actions[row, seat] = rng.choice(legal)
    return actions


def play(game: Game, options: Options, digest: Any) -> None:
    """Some games of one variant: the first ones observed in every way, the others just played."""
    rng = np.random.default_rng(1)
    batch = make_batch(game, LANES[game], **options)
    batch.reset(seed=3)
    # A state of the generator whose next output is 0, which draws without bias must reject.
    batch.games["rng"][0] = (0, 1, 2, 0)
    for step in range(STEPS[game]):
        result = batch.step(legal_actions(batch, game, rng), autoreset=step % 3 > 0)
        for array in (result.reward, result.terminated, result.truncated, batch.games):
            digest.update(array.tobytes())
        if step % 3 == 0:  # some games may be over now
            games = batch.games.copy()
            ENGINES[game].play(games, legal_actions(batch, game, np.random.default_rng(step)))
            digest.update(games.tobytes())
        if step % 5 == 0:
            for (encoding, memory), seat in product(KINDS, (0, 1)):
                seen = batch.observe([0, 1, 2], [seat] * 3, encoding=encoding, memory=memory)
                for array in seen:
                    digest.update(array.tobytes())
            rows = np.arange(batch.num_games)
            digest.update(ENGINES[game].facts(batch.games, rows).tobytes())


def refuse_illegal_actions(game: Game) -> None:
    batch = make_batch(game, 2, "minimal")
    batch.reset(seed=3)
    for wrong in (7, -1):
        try:
            batch.step(np.full((2, 2), wrong))
        except ValueError:
            continue
        raise AssertionError("an illegal action was played")


def set_states(game: Game, digest: Any) -> None:
    """States of every phase, from given hands, taken over by another environment."""
    hands = (["2H", "3H", "4H", "2D"], ["2S", "3S", "4S", "2C"])
    if game == "attack-defence":
        hands = (["AH", "2H", "3H", "AD"], ["AS", "2S", "3S", "AC"])
    first, second = hands
    for fair, given in product((False, True), (hands, (second, first), (first, second[::-1]))):
        options: Options = {"fair": fair, "num_ranks": 3, "max_turns": 4}
        env, other = raw_env(game, **options), raw_env(game, encoding="tokens", **options)
        env.reset(seed=1, options={"hands": given})
        while env.agents:
            other.set_state(env.get_state())
            digest.update(other.get_state())
            digest.update(json.dumps([env.infos, env.event, env.outcome]).encode())
            for one in (env, other):
                digest.update(one.state().tobytes())
            agent = env.agent_selection
            digest.update(bytes(env.is_legal(a, 0) for a in ("player_0", "player_1")))
            legal = np.flatnonzero(env.observe(agent)["action_mask"])
            env.step(int(legal[0]) if len(legal) else None)


def show_later_modes(game: Game, digest: Any) -> None:
    """Observations that tell of modes which no variant has yet: three, the second of them on."""
    for name, encoding in product(("standard", "minimal"), ("vector", "tokens")):
        batch = make_batch(game, 1, name, encoding=encoding)
        batch.reset(seed=3)
        without = batch.observe([0], [1])[0]
        batch.games["later_modes"] = 0b010
        engine, deck = ENGINES[game], batch.variant.deck_size
        observer = engine.observer(encoding, deck, 3)
        seen = np.empty((1, observer.size), observer.dtype)
        mask = np.empty((1, batch.num_actions), np.int8)
        rows, seats = np.zeros(1, np.int64), np.ones(1, np.int64)
        observer.write(batch.games, 0, 1, rows, seats, True, 1, seen, mask)
        assert seen[0, :-3].tolist() == without[0].tolist()
        assert seen[0, -3:].tolist() == [0, 1, 0]
        space = engine.layout.space(encoding, deck, 3)
        assert space.contains(seen[0])
        digest.update(seen.tobytes())


def encoding_errors(game: Game) -> None:
    """The branches of what surrounds the kernels."""
    for wrong in ("text", 5, None):
        try:
            make_batch(game, 1, encoding=wrong)  # type: ignore[arg-type]
        except ValueError:
            continue
        raise AssertionError("a wrong encoding was taken")
    encoding = ENGINES[game].layout
    assert encoding.index(encoding.header[3].name) == 3
    assert encoding.deck_size(encoding.size("tokens", 26)) == 26


def digest_of(game: Game) -> str:
    """Of everything that the games of one game show."""
    digest = hashlib.sha256()
    for mode in modes():
        options = {**mode, "num_ranks": 3, "max_turns": 6}
        own_cards = ("bottom", "first") if game == "attack-defence" else (None,)
        for own_card in own_cards:
            play(game, {**options, "own_card": own_card} if own_card else options, digest)
    refuse_illegal_actions(game)
    set_states(game, digest)
    show_later_modes(game, digest)
    encoding_errors(game)
    return digest.hexdigest()


if __name__ == "__main__":
    print(json.dumps({game: digest_of(game) for game in GAMES}))
