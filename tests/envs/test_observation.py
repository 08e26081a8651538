"""Positions read back from their observations, by the index tables alone, beside the reference."""

import random
import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.decks import RANKS, deal, nearly_fair_hands, odd_hands, variants
from tests.support.decode import Decoder, flat, header_table
from tests.support.envs import AGENTS, raw_env
from tests.support.referees import AttackDefenceReferee, StrategicWarReferee
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.attack_defence import observation as attack_defence_observation
from war_envs.strategic_war import observation as strategic_war_observation

MODULES: dict[Game, Any] = {
    "attack-defence": attack_defence_observation,
    "strategic-war": strategic_war_observation,
}
PUBLIC = {"attack-defence": attack_defence_v0, "strategic-war": strategic_war_v0}
KINDS = list(product(("vector", "tokens"), ("perfect", "table")))
DECODED = 8  # positions of each game, about


@pytest.mark.parametrize("game", MODULES)
def test_header_is_as_documented(game: Game) -> None:
    module = MODULES[game]
    documented = flat(header_table(module.__doc__))
    encoding = module.LAYOUT
    assert documented == [(field.name, field.scale) for field in encoding.header]
    assert [encoding.index(name) for name, _ in documented] == list(range(len(documented)))
    assert encoding.scales.tolist() == [scale for _, scale in documented]
    # What users read is the same text.
    assert module.__doc__ in str(PUBLIC[game].__doc__)


@pytest.mark.parametrize(
    ("game", "tokens"),
    [
        ("attack-defence", ["0", "1", "2", "3 - 54", "55 - 106"]),
        ("strategic-war", ["0", "1", "2, 3", "4 - 55"]),
    ],
)
def test_tokens_are_as_documented(game: Game, tokens: list[str]) -> None:
    """The rows that `tests.support.decode` reads tokens by, and the bounds of the space."""
    table = MODULES[game].__doc__.partition("token    ")[2]
    assert re.findall(r"^(\d[-, \d]*?)  ", table, flags=re.MULTILINE) == tokens
    space = raw_env(game, encoding="tokens").observation_space("player_0")["observation"]
    header = MODULES[game].LAYOUT.scales
    highest = int(re.findall(r"\d+", tokens[-1])[-1])
    assert space.high[: len(header)].tolist() == header.tolist()
    assert set(space.high[len(header) :].tolist()) == {highest}
    assert space.dtype == np.uint8
    assert 2 * highest < 255, "tokens come too close to what a byte can hold"


def start(game: Game, options: dict[str, Any], rng: random.Random) -> tuple[dict[Any, Any], Any]:
    """The same position in an environment of each kind, and beside them the reference."""
    hands = rng.choice((deal, deal, odd_hands, nearly_fair_hands))(game, options, rng)
    given: dict[str, Any] = {"hands": hands}
    referee: Any
    if game == "attack-defence":
        referee = AttackDefenceReferee(hands, options)
    else:
        given["first_attacker"] = rng.choice((0, 1))
        referee = StrategicWarReferee(hands, options, given["first_attacker"])
    envs = {}
    for encoding, memory in KINDS:
        env = envs[encoding, memory] = raw_env(game, encoding=encoding, memory=memory, **options)
        env.reset(seed=1, options=given)
    return envs, referee


def step(envs: dict[Any, Any], referee: Any, rng: random.Random) -> None:
    """One choice, or one of each player in Attack and Defence."""
    if referee.game == "attack-defence":
        actions = [rng.choice((0, 0, 1)) for _ in AGENTS]
        referee.plays.play(*actions)
    else:
        actions = [rng.choice(referee.plays.legal())]
        if actions == [3] and rng.random() < 0.7:
            actions = [2]
        referee.play(actions[0])
    for env in envs.values():
        for action in actions:
            env.step(action)


def check_views(envs: dict[Any, Any], referee: Any, decoder: Decoder) -> None:
    for (encoding, memory), env in envs.items():
        for viewer, agent in enumerate(AGENTS):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            found = decoder.decode(observation["observation"], vector=encoding == "vector")
            assert found == referee.view(viewer, memory == "perfect"), (encoding, memory, agent)


@pytest.mark.parametrize("game", MODULES)
def test_every_entry_means_what_the_table_says(game: Game) -> None:
    rng = random.Random(game)
    decoder = Decoder(game, MODULES[game].__doc__)
    ended = 0
    for variant, ranks in product(variants(game), RANKS):
        options = {**variant, "num_ranks": ranks, "max_turns": rng.choice((None, None, 2, 7, 60))}
        envs, referee = start(game, options, rng)
        check_views(envs, referee, decoder)
        often = DECODED / (10 * ranks)
        for _ in range(12 * ranks):
            step(envs, referee, rng)
            if referee.plays.over or rng.random() < often:
                check_views(envs, referee, decoder)
            if referee.plays.over:
                ended += 1
                break
    assert ended > 20


@pytest.mark.field_case("A08")
def test_a_commit_changes_no_view() -> None:
    """Between player_0's choice and player_1's, both still see the position before it."""
    decoder = Decoder("attack-defence", str(attack_defence_observation.__doc__))
    rng = random.Random(5)
    for variant in variants("attack-defence"):
        envs, referee = start("attack-defence", {**variant, "num_ranks": 5}, rng)
        for action in (0, 1):
            for env in envs.values():
                env.step(action)
            check_views(envs, referee, decoder)
            for env in envs.values():
                env.step(1)
            referee.plays.play(action, 1)
            if referee.plays.over:
                break


@pytest.mark.parametrize("game", MODULES)
def test_turns_are_shown_exactly_where_the_limit_is_large(game: Game) -> None:
    """Two bytes tell apart all turns of a limit below 65,536."""
    rng = random.Random(3)
    options = {"minimal": True, "num_ranks": 13, "max_turns": 65_535}
    hands = deal(game, options, rng)
    env = raw_env(game, encoding="tokens", **options)
    env.reset(seed=1, options={"hands": hands})
    module = MODULES[game]
    at = module.LAYOUT.index("turn")
    shown: list[int] = []
    for _ in range(400):
        high, low = env.observe("player_0")["observation"][at : at + 2].tolist()
        if [256 * high + low] != shown[-1:]:
            shown.append(256 * high + low)
        mask = env.observe(env.agent_selection)["action_mask"]
        if not mask.any():
            break
        env.step(int(rng.choice(np.flatnonzero(mask).tolist())))
    assert shown == list(range(len(shown)))
    assert len(shown) > 10
