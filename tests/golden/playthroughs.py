"""Games written so that a person can follow them, with hashes of all that the players observe."""

import hashlib
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from tests.reference.cards import Game
from tests.support.envs import AGENTS, raw_env
from war_envs.engine.layout import ENCODINGS, MEMORIES
from war_envs.variant import VARIANT_NAMES, make_variant

GAMES: Final[tuple[Game, ...]] = ("attack-defence", "strategic-war")
# Enough to meet wars in wars and decks dealt through; the ends of long games show in their results.
MAX_CHOICES: Final = 160
ACTIONS: Final = {
    "attack-defence": ("ATTACK", "DEFEND"),
    "strategic-war": ("TOP", "BOTTOM", "FIGHT", "SURRENDER"),
}
OBSERVATIONS: Final = tuple((e, m) for e in ENCODINGS for m in MEMORIES)

Options = dict[str, Any]


def _odd_decks(game: Game) -> dict[str, tuple[Options, Options]]:
    """Options of the environment and of reset, by name."""
    decks: dict[str, tuple[Options, Options]] = {
        "3-ranks": ({"num_ranks": 3, "max_turns": 7}, {}),
        "5-ranks-minimal": ({"num_ranks": 5, "minimal": True}, {}),
        "9-ranks-open-card": ({"num_ranks": 9, "open_cards": True}, {}),
        "given-hands": (
            {"num_ranks": 13},
            {"hands": (["AH", "7D", "7H"], ["KS", "2C", "7S", "AC"])},
        ),
        "given-hands-fair": (
            {"num_ranks": 13, "fair": True},
            {"hands": (["AH", "7D", "7H"], ["AS", "7C", "7S"])},
        ),
    }
    if game == "attack-defence":
        decks["own-card-first"] = ({"own_card": "first", "minimal": True}, {})
    else:
        decks["player-1-attacks"] = ({"minimal": True}, {"first_attacker": 1})
    return decks


def _text(game: Game, options: Options, reset: Options, seed: int) -> str:
    return "\n".join(_lines(game, options, reset, seed)) + "\n"


def _lines(game: Game, options: Options, reset: Options, seed: int) -> Iterator[str]:
    env = raw_env(game, **options)
    env.reset(seed=seed, options=reset)
    choices = random.Random(f"{game} {sorted(env.variant.options.items())}")
    given = ", ".join(f"{name}={value!r}" for name, value in sorted(env.variant.options.items()))
    yield f"{game}: {given}"
    yield f"reset: seed={seed}, options={reset}"
    yield from _hands(env)
    columns = "  ".join(f"{encoding}/{memory}" for encoding, memory in OBSERVATIONS)
    yield f"choice, the hands' sizes, {columns}: hashes of both players' observations and masks"
    names = ACTIONS[game]
    for number in range(MAX_CHOICES):
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        agent = env.agent_selection
        action = choices.choice(np.flatnonzero(env.observe(agent)["action_mask"]).tolist())
        sizes = ":".join(str(len(hand)) for hand in env.hands)
        shown = "  ".join(_hash(env, encoding, memory) for encoding, memory in OBSERVATIONS)
        before = env.event
        env.step(action)
        event = f"  {env.event}" if env.event != before else ""
        yield f"{number:3} {sizes:>5}  {shown}  {agent} {names[action]}{event}"
    yield from _hands(env)
    yield f"rewards {env.rewards}; {env.outcome or 'the game goes on'}"
    # What follows from the same seed.
    env.reset()
    yield "the next deal"
    yield from _hands(env)


def _hands(env: Any) -> Iterator[str]:
    for agent, hand in zip(AGENTS, env.hands, strict=True):
        yield f"{agent} holds {' '.join(hand)}"


def _hash(env: Any, encoding: str, memory: str) -> str:
    digest = hashlib.sha256()
    for agent in AGENTS:
        seen = env.observe(agent, encoding=encoding, memory=memory)
        for array in (seen["observation"], seen["action_mask"]):
            digest.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:8]


def _playthroughs() -> Iterator[tuple[str, Callable[[], str]]]:
    for game in GAMES:
        for variant in VARIANT_NAMES:
            options = make_variant(game, variant).options
            yield f"playthroughs/{game}/{variant}.txt", partial(_text, game, options, {}, 1)
        for name, (options, reset) in _odd_decks(game).items():
            yield f"playthroughs/{game}/{name}.txt", partial(_text, game, options, reset, 2)


# What makes the text of each file: every variant of both games, and decks of other sizes.
PLAYTHROUGHS: Final = dict(_playthroughs())
