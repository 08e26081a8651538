"""Infos: numbers under the same keys at all times, which say what the words say."""

import copy
import json
import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.decks import CARD_NAMES
from tests.support.envs import AGENTS
from tests.support.positions import GAME_KINDS, advance, is_parallel, make
from war_envs.engine.engine import ENGINES
from war_envs.info import Ending

FEW: dict[str, Any] = {"num_ranks": 3}
SHARED = {"ending", "winner", "illegal", "turn", "last_taker"}
SHARED |= {f"last_{what}_{seat}" for what in ("action", "card") for seat in (0, 1)}
KEYS = {
    "attack-defence": SHARED | {"last_extra_card"},
    "strategic-war": SHARED | {"last_chooser", "last_ending", "last_taken"},
}
VERBS = {"attack-defence": ("attacks", "defends"), "strategic-war": ("fights", "surrenders")}
LIMITS = {"attack-defence": 40, "strategic-war": 2}


def moments(env: Any, games: int, rng: random.Random) -> Iterator[None]:
    """Some games, with a pause at every moment in which infos can be read."""
    for seed in range(games):
        env.reset(seed=seed)
        while env.agents:
            yield
            advance(env, rng)
        yield


def shown_infos(env: Any) -> list[dict[str, Any]]:
    infos = list(env.unwrapped.infos.values())
    if not is_parallel(env) and env.agents:
        infos.append(env.last(observe=False)[4])
    return infos


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_infos_have_the_same_keys_and_types_at_all_times(game: Game, kind: str) -> None:
    env, engine = make(game, kind, max_turns=LIMITS[game], **FEW), ENGINES[game]
    endings = set()
    for _ in moments(env, 30, random.Random(1)):
        for info in shown_infos(env):
            assert set(info) == KEYS[game]
            assert {type(value) for value in info.values()} == {int}
            endings.add(Ending(info["ending"]))
            assert info["winner"] in (-1, 0, 1)
            assert (info["winner"] >= 0) is (info["ending"] == Ending.WON)
            assert info["illegal"] == -1
            # Batches tell the same of a row.
            of_rows = engine.facts(env.unwrapped._position.games, np.zeros(1, np.int64))
            assert dict(zip(engine.info_keys, of_rows[:, 0].tolist(), strict=True)) == info
        for one, other in zip(shown_infos(env), shown_infos(env), strict=True):
            assert one == other
    assert {Ending.RUNNING, Ending.WON, Ending.TRUNCATED} <= endings or is_parallel(env)


def test_what_the_parallel_environment_returns_has_the_same_keys() -> None:
    env = make("attack-defence", "parallel_env", max_turns=40, **FEW)
    endings = set()
    for seed in range(30):
        _, infos = env.reset(seed=seed)
        while env.agents:
            assert [set(info) for info in infos.values()] == 2 * [KEYS["attack-defence"]]
            *_, infos = env.step(dict(zip(AGENTS, (seed % 2, 0), strict=True)))
        assert [set(info) for info in infos.values()] == 2 * [KEYS["attack-defence"]]
        endings.add(Ending(infos["player_0"]["ending"]))
    assert endings == {Ending.WON, Ending.TRUNCATED}


def turn_in_words(info: dict[str, int]) -> str:
    """An info of Attack and Defence, read aloud."""
    if info["turn"] == 0:
        return ""
    names, verbs = CARD_NAMES["attack-defence"], VERBS["attack-defence"]
    played = [names[info[f"last_card_{seat}"]] for seat in (0, 1)]
    actions = [info[f"last_action_{seat}"] for seat in (0, 1)]
    said = ", ".join(f"player_{seat} {verbs[actions[seat]]} with {played[seat]}" for seat in (0, 1))
    taker, extra = info["last_taker"], info["last_extra_card"]
    if taker >= 0:
        more = "" if extra < 0 else f" and the next card, {names[extra]}"
        return f"{said}: player_{taker} takes {played[1 - taker]}{more}"
    swapped = actions == [1, 1]
    what = "the cards are swapped" if swapped else "a tie, each card goes back to its owner"
    return f"{said}: {what}"


@pytest.mark.parametrize("kind", ["env", "parallel_env"])
def test_numbers_and_words_of_attack_and_defence_say_the_same(kind: str) -> None:
    env = make("attack-defence", kind, max_turns=60, **FEW)
    said = set()
    for _ in moments(env, 20, random.Random(2)):
        for info in shown_infos(env):
            assert turn_in_words(info) == env.unwrapped.event
            said.add(env.unwrapped.event.rpartition(": ")[2].split(",")[0])
            assert bool(info["ending"]) == bool(env.unwrapped.outcome)
    assert {"", "the cards are swapped", "a tie"} < said


def test_numbers_and_words_of_strategic_war_say_the_same() -> None:
    names = CARD_NAMES["strategic-war"]
    env = make("strategic-war", "env", num_ranks=5)
    endings = set()
    for _ in moments(env, 60, random.Random(3)):
        event = env.unwrapped.event
        for info in shown_infos(env):
            endings.add(info["last_ending"])
            chooser = info["last_chooser"]
            if chooser < 0:
                assert event == ""
                continue
            action, card = info[f"last_action_{chooser}"], info[f"last_card_{chooser}"]
            end = ("top", "bottom", None, None)[action]
            done = (
                f"flips {names[card]} from the {end}" if end else VERBS["strategic-war"][action - 2]
            )
            assert event.startswith(f"player_{chooser} {done}")
            if "takes" in event:
                takes = f"player_{info['last_taker']} takes {info['last_taken']} cards"
                assert event.endswith(takes)
                assert info["last_ending"] == 3 or action < 2
            if info["ending"] == Ending.WON:
                assert env.unwrapped.outcome.endswith(f"player_{info['winner']} wins")
    assert endings == {0, 1, 2, 3}


def test_a_tie_has_its_own_ending() -> None:
    env = make("strategic-war", "raw_env")
    env.reset(options={"hands": (["2H"], ["2S"])})
    for _ in range(2):
        env.step(0)
    assert env.infos["player_0"]["ending"] == Ending.TIE
    assert "tie" in env.outcome
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}


@pytest.mark.parametrize("offender", [0, 1])
def test_an_illegal_choice_is_told_by_seat(offender: int) -> None:
    env = make("strategic-war", "env", info_text=True, render_mode="ansi")
    env.reset(seed=1, options={"first_attacker": offender})
    before = set(env.infos["player_0"])
    env.step(2)
    for info in shown_infos(env):
        assert set(info) == before == KEYS["strategic-war"] | {"event", "outcome"}
        assert info["ending"] == Ending.ILLEGAL
        assert info["illegal"] == offender
        assert info["winner"] == 1 - offender
        assert info["event"] == f"player_{offender} chose FIGHT, which is illegal"
        assert info["outcome"] == (
            f"player_{offender} made an illegal choice: player_{1 - offender} wins"
        )
    drawn = str(env.render()).splitlines()
    assert drawn[-2:] == [env.unwrapped.event, env.unwrapped.outcome]
    # A state tells it, too, and the next game knows nothing of it.
    other = make("strategic-war", "env", info_text=True)
    other.unwrapped.set_state(env.unwrapped.get_state())
    assert other.infos == env.infos
    assert other.last()[1:] == env.last()[1:]
    env.reset()
    assert env.infos["player_0"]["illegal"] == -1
    assert env.infos["player_0"]["ending"] == Ending.RUNNING
    assert env.unwrapped.event == env.unwrapped.outcome == ""


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_words_stand_in_infos_on_request(game: Game, kind: str) -> None:
    env = make(game, kind, info_text=True, max_turns=20, **FEW)
    for _ in moments(env, 5, random.Random(4)):
        for info in env.unwrapped.infos.values():
            assert set(info) == KEYS[game] | {"event", "outcome"}
            assert (info["event"], info["outcome"]) == (env.unwrapped.event, env.unwrapped.outcome)
        if not is_parallel(env) and env.agents:
            assert env.last()[4] == env.infos[env.agent_selection]
    with pytest.raises(ValueError, match="info_text=1 is not allowed"):
        make(game, kind, info_text=1)


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_infos_have_the_mask_of_the_observation_and_do_not_list_it(game: Game, kind: str) -> None:
    env = make(game, kind, max_turns=20, **FEW)
    kept = []
    for _ in moments(env, 5, random.Random(4)):
        for agent, info in env.unwrapped.infos.items():
            seen = env.observe(agent)["action_mask"]
            copies = (info, copy.copy(info), copy.deepcopy(info), pickle.loads(pickle.dumps(info)))
            for same in copies:
                assert same == info
                assert "action_mask" in same
                assert "action_mask" not in list(same)
                for mask in (same["action_mask"], same.get("action_mask")):
                    assert mask.dtype == np.int8
                    assert mask.tolist() == seen.tolist()
            assert (info.get("nothing"), info.get("nothing", 3), info.get("turn")) == (
                None, 3, info["turn"],
            )  # fmt: skip
            assert "nothing" not in info
            with pytest.raises(KeyError, match="nothing"):
                info["nothing"]
            kept.append((info, seen.tolist()))
    assert all(info["action_mask"].tolist() == mask for info, mask in kept)  # of their moment


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_infos_are_plain_data(game: Game, kind: str) -> None:
    env = make(game, kind, **FEW)
    env.reset(seed=1)
    infos = env.unwrapped.infos
    assert json.loads(json.dumps(infos)) == infos
