"""The recorded games, replayed through the environments, with every recorded field checked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.envs import AGENTS, parallel_env, raw_env, wrapped_env

PLAYTHROUGHS = Path(__file__).parents[1] / "playthroughs"
NO_LIMIT = 1_000_000

Recording = dict[str, Any]


def recordings(name: str) -> list[Any]:
    lines = (PLAYTHROUGHS / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20
    return [pytest.param(json.loads(line), id=str(number)) for number, line in enumerate(lines)]


def options_of(record: Recording) -> dict[str, Any]:
    names = ("minimal", "fair", "open_cards", "num_ranks", "own_card")
    return {name: record[name] for name in names if name in record} | {"max_turns": NO_LIMIT}


def cards(text: str) -> list[str]:
    return text.split()


def bits(flags: list[bool]) -> str:
    return "".join("1" if flag else "0" for flag in flags)


def hands_now(env: Any) -> list[str]:
    return [" ".join(hand) for hand in env.unwrapped.hands]


def known_now(env: Any) -> list[list[str]]:
    return [[bits(hand) for hand in env.unwrapped.known(agent)] for agent in AGENTS]


def legal_now(env: Any, agent: str) -> str:
    mask = env.observe(agent)["action_mask"]
    return "".join(str(action) for action in np.flatnonzero(mask))


class Checklist:
    """The recorded fields, crossed off as they are compared, so that none is forgotten."""

    def __init__(self, record: Recording, *fields: str) -> None:
        assert set(record) == {"game", "minimal", "fair", "open_cards", "num_ranks", *fields}
        self.record = record
        self.left = {
            (field, key)
            for field in fields
            if isinstance(record[field], dict)
            for key in record[field]
        }

    def compare(self, field: str, turn: int, found: Any) -> None:
        if str(turn) in self.record[field]:
            self.left.discard((field, str(turn)))
            assert found == self.record[field][str(turn)], f"{field} {turn}"


def check_end(env: Any, record: Recording, rewards: Any, terminations: Any) -> None:
    winner = record["winner"]
    if winner is None:  # the recording stops there
        assert list(env.agents) == list(AGENTS)
        assert not any(terminations.values())
        assert set(rewards.values()) == {0.0}
        return
    assert terminations == dict.fromkeys(AGENTS, True)
    if winner == "tie":
        assert rewards == dict.fromkeys(AGENTS, 0.0)
        return
    assert rewards == {AGENTS[winner]: 1.0, AGENTS[1 - winner]: -1.0}


ATTACK_DEFENCE_FIELDS = (
    "own_card",
    "hands",
    "known_at_start",
    "actions",
    "hands_after_turn",
    "known_after_turn",
    "winner",
    "turns",
)


@pytest.mark.parametrize("record", recordings("attack_defence.jsonl"))
def test_attack_defence(record: Recording) -> None:
    checklist = Checklist(record, *ATTACK_DEFENCE_FIELDS)
    env = raw_env(record["game"], **options_of(record))
    env.reset(seed=0, options={"hands": tuple(map(cards, record["hands"]))})
    assert hands_now(env) == record["hands"]
    assert known_now(env) == record["known_at_start"]
    turns = cards(record["actions"])
    for turn, pair in enumerate(turns, start=1):
        assert not any({**env.terminations, **env.truncations}.values())
        assert set(env.rewards.values()) == {0.0}
        for agent, choice in zip(AGENTS, pair, strict=True):
            assert env.agent_selection == agent
            assert legal_now(env, agent) == "01"
            env.step("AD".index(choice))
        checklist.compare("hands_after_turn", turn, hands_now(env))
        checklist.compare("known_after_turn", turn, known_now(env))
    assert not checklist.left
    assert len(turns) == record["turns"]
    assert not any(env.truncations.values())
    check_end(env, record, env.rewards, env.terminations)


@pytest.mark.parametrize("record", recordings("attack_defence.jsonl"))
def test_attack_defence_in_parallel(record: Recording) -> None:
    checklist = Checklist(record, *ATTACK_DEFENCE_FIELDS)
    env = parallel_env(**options_of(record))
    env.reset(seed=0, options={"hands": tuple(map(cards, record["hands"]))})
    assert known_now(env) == record["known_at_start"]
    rewards, terminations, truncations = {}, {}, {}
    for turn, pair in enumerate(cards(record["actions"]), start=1):
        actions = {agent: "AD".index(a) for agent, a in zip(AGENTS, pair, strict=True)}
        _, rewards, terminations, truncations, _ = env.step(actions)
        checklist.compare("hands_after_turn", turn, hands_now(env))
        checklist.compare("known_after_turn", turn, known_now(env))
    assert not checklist.left
    assert not any(truncations.values())
    check_end(env, record, rewards, terminations)


@pytest.mark.parametrize("make", [raw_env, wrapped_env], ids=["raw_env", "env"])
@pytest.mark.parametrize("record", recordings("strategic_war.jsonl"))
def test_strategic_war(record: Recording, make: Any) -> None:
    checklist = Checklist(
        record,
        "hands",
        "first_attacker",
        "movers",
        "legal",
        "actions",
        "hands_after_round",
        "known_after_round",
        "winner",
        "rounds",
    )
    env = make(record["game"], **options_of(record))
    hands = tuple(map(cards, record["hands"]))
    env.reset(seed=0, options={"hands": hands, "first_attacker": record["first_attacker"]})
    deck = sorted(cards(" ".join(record["hands"])))
    rounds = 0
    choices = zip(record["movers"], cards(record["legal"]), record["actions"], strict=True)
    for mover, legal, action in choices:
        assert not any({**env.terminations, **env.truncations}.values())
        assert set(env.rewards.values()) == {0.0}
        agent = AGENTS[int(mover)]
        assert env.agent_selection == agent
        assert legal_now(env, agent) == legal
        env.step("TBFS".index(action))
        if sorted(cards(" ".join(hands_now(env)))) != deck:
            continue  # cards are on the table
        rounds += 1
        checklist.compare("hands_after_round", rounds, hands_now(env))
        for known in known_now(env):
            checklist.compare("known_after_round", rounds, known)
    assert not checklist.left
    assert rounds == record["rounds"]
    assert not any(env.truncations.values())
    check_end(env, record, env.rewards, env.terminations)
