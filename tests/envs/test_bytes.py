"""Equal games are equal bytes, however they were reached."""

import json
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.decks import GAMES
from tests.support.envs import AGENTS
from tests.support.positions import GAME_KINDS, advance, make
from war_envs.batch import make_batch

VARIANTS: list[dict[str, Any]] = [{}, {"fair": True}, {"minimal": True, "open_cards": True}]


def used(env: Any, steps: int) -> Any:
    env.reset(seed=99)
    rng = random.Random(steps)
    for _ in range(steps):
        advance(env, rng)
    return env


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_a_used_environment_deals_what_a_new_one_does(game: Game, kind: str) -> None:
    options: list[dict[str, Any] | None] = [None, {"hands": (["2H", "3S", "4H"], ["5S", "2S"])}]
    if game == "strategic-war":
        options.append({"first_attacker": 1})
    for variant, given, steps in product(VARIANTS, options, (1, 20, 150)):
        old, new = used(make(game, kind, **variant), steps), make(game, kind, **variant)
        for env in (old, new):
            env.reset(seed=5, options=given)
        assert old.unwrapped.get_state() == new.unwrapped.get_state()
        rngs = random.Random(1), random.Random(1)
        for _ in range(60):
            for env, rng in zip((old, new), rngs, strict=True):
                advance(env, rng)
            assert old.unwrapped.get_state() == new.unwrapped.get_state()


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_a_state_that_was_set_plays_on_to_the_same_bytes(game: Game, kind: str) -> None:
    env, other = used(make(game, kind), 37), used(make(game, kind), 111)
    other.unwrapped.set_state(env.unwrapped.get_state())
    rngs = random.Random(1), random.Random(1)
    for _ in range(200):
        assert env.unwrapped.get_state() == other.unwrapped.get_state()
        for one, rng in zip((env, other), rngs, strict=True):
            advance(one, rng)


def test_a_drawn_first_attacker_and_the_same_one_given_are_the_same_game() -> None:
    env, other = make("strategic-war", "raw_env"), make("strategic-war", "raw_env")
    for seed in range(4):
        env.reset(seed=seed)
        other.reset(seed=seed, options={"first_attacker": env.agent_selection})
        assert env.get_state() == other.get_state()


@pytest.mark.parametrize("game", GAMES)
def test_rows_and_environments_are_the_same_bytes_through_autoreset(game: Game) -> None:
    """Lane 0 is what an environment deals from the same seed, in this game and those after it."""
    variant: dict[str, Any] = {"minimal": True, "num_ranks": 5}
    batch, env = make_batch(game, 3, **variant), make(game, "raw_env", **variant)
    old = make_batch(game, 3, **variant)
    old.reset(seed=3)
    rng, games = np.random.default_rng(0), 0
    for _ in range(50):
        old.step(random_actions(old, rng))
    for one in (batch, old):
        one.reset(seed=7)
    env.reset(seed=7)
    while games < 4:
        assert batch.games.tobytes() == old.games.tobytes()
        assert batch.games[:1].tobytes() == env._position.games.tobytes()
        actions = random_actions(batch, rng)
        ended = 0 in batch.step(actions).final_rows
        old.step(actions)
        for agent in AGENTS if game == "attack-defence" else [env.agent_selection]:
            env.step(int(actions[0, AGENTS.index(agent)]))
        if ended:
            games += 1
            env.reset()


def random_actions(batch: Any, rng: np.random.Generator) -> Any:
    mask = batch.observe()[1]
    chosen = (mask * (1 + rng.random(mask.shape))).argmax(axis=-1)
    return chosen if chosen.ndim == 2 else np.stack([chosen, chosen], axis=1)


def test_cards_where_none_can_lie_are_refused() -> None:
    env = used(make("strategic-war", "raw_env"), 9)
    state = json.loads(env.get_state())
    state["record"]["table"][-1] = 1
    with pytest.raises(ValueError, match="cards where none can lie"):
        env.set_state(json.dumps(state).encode())
