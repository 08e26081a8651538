"""The VecEnv of self-play: what the learner gets is what the rules give its seat."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import war_agents
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.scripted.base import RandomAgent
from war_agents.versus import OpponentFailedError
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.engine import seeding
from war_envs.variant import make_variant
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv

GAMES = ("attack-defence", "strategic-war")
MAKERS: dict[str, Any] = {
    "attack-defence": attack_defence_v0.raw_env,
    "strategic-war": strategic_war_v0.raw_env,
}
OPPONENTS = {"attack-defence": "attack", "strategic-war": "memory"}  # which draw nothing
SMALL: dict[str, Any] = {"minimal": True, "num_ranks": 5}


def legal_choices(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal action for each row."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=1), np.int64)


class Table:
    """One learner in a plain environment, with an opponent that is asked in turn."""

    def __init__(self, game: str, opponent: str, encoding: str, **options: Any) -> None:
        self.raw = MAKERS[game](encoding=encoding, **options)
        self.twin = MAKERS[game](encoding="tokens", **options)
        variant = make_variant(game, **options)
        self.agent = war_agents.make(opponent, game=game, variant=variant)

    def reset(self, seed: int | None, seat: int) -> None:
        self.raw.reset(seed=seed)
        self.twin.reset(seed=seed)
        self.seat = f"player_{seat}"

    def step(self, action: int) -> None:
        self.raw.step(action)
        self.twin.step(action)

    def go_on(self, action: int | None) -> None:
        """Until the learner must choose, or the game is over; ``action`` is its next choice."""
        while not self.over():
            if self.raw.agent_selection != self.seat:
                seen = self.twin.observe(self.twin.agent_selection)
                rows = (seen["observation"][None], seen["action_mask"][None])
                actions, _ = self.agent.act(*rows, np.zeros(1, np.uint64))
                self.step(int(actions[0]))
            elif action is not None:
                self.step(action)
                action = None
            else:
                return

    def over(self) -> bool:
        return any(self.raw.terminations.values()) or any(self.raw.truncations.values())


@pytest.mark.parametrize("encoding", ["tokens", "vector"])
@pytest.mark.parametrize("game", GAMES)
def test_a_row_is_the_game_that_an_environment_plays(game: str, encoding: str) -> None:
    options = {**SMALL, "max_turns": 25 if game == "attack-defence" else 12}
    venv = SelfPlayVecEnv(
        game, 3, opponents={OPPONENTS[game]: 1.0}, encoding=encoding, seed=5, **options
    )
    table = Table(game, OPPONENTS[game], encoding, **options)
    rng = np.random.default_rng(1)
    observation = venv.reset()
    table.reset(5, int(venv.seats[0]))
    table.go_on(None)
    endings = set()
    for _ in range(400):
        seen = table.raw.observe(table.seat)
        np.testing.assert_array_equal(observation[0], seen["observation"])
        np.testing.assert_array_equal(venv.action_masks()[0], seen["action_mask"])
        actions = legal_choices(venv.action_masks(), rng)
        seat = int(venv.seats[0])
        observation, rewards, dones, infos = venv.step(actions)
        table.go_on(int(actions[0]))
        assert dones[0] == table.over()
        if not dones[0]:
            assert rewards[0] == 0.0
            assert infos[0] == {}
            continue
        assert rewards[0] == table.raw.rewards[table.seat]
        final = table.raw.observe(table.seat)["observation"]
        np.testing.assert_array_equal(infos[0]["terminal_observation"], final)
        truncated = table.raw.truncations[table.seat]
        assert infos[0]["TimeLimit.truncated"] is truncated
        assert infos[0]["seat"] == seat
        assert infos[0]["episode"]["r"] == rewards[0]
        endings.add((seat, float(rewards[0]), truncated))
        table.reset(None, int(venv.seats[0]))
        table.go_on(None)
    assert {(0, 1.0, False), (0, -1.0, False), (1, 1.0, False), (1, -1.0, False)} <= endings
    assert {seat for seat, _, truncated in endings if truncated} == {0, 1}


@pytest.mark.parametrize("game", GAMES)
def test_seats_change_with_each_game_and_lengths_count_the_learners_choices(game: str) -> None:
    venv = SelfPlayVecEnv(game, 8, opponents={"random": 1.0}, seed=2, **SMALL)
    venv.reset()
    assert venv.seats.tolist() == [0, 1] * 4
    rng, lengths = np.random.default_rng(0), np.zeros(8, int)
    for _ in range(300):
        before = venv.seats.copy()
        _, _, dones, infos = venv.step(legal_choices(venv.action_masks(), rng))
        lengths += 1
        assert (venv.seats == np.where(dones, 1 - before, before)).all()
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["l"] == lengths[row]
            lengths[row] = 0


@pytest.mark.field_case("T08")
@pytest.mark.parametrize("game", GAMES)
def test_a_game_ends_against_the_opponent_it_began_with_who_gets_the_credit(game: str) -> None:
    variant = make_variant(game, **SMALL)
    learner = RandomAgent("self", variant)
    shares = {"self": 1.0, "past": 2.0, "random": 1.0}
    league = League(variant, shares, learner=learner, past_size=2)
    venv = SelfPlayVecEnv(game, 16, variant, opponents=league, seed=1)
    venv.reset()
    assert set(venv.opponents.tolist()) <= {0, 1, 2}
    rng, credited, met = np.random.default_rng(0), dict.fromkeys(shares, 0), set()
    for step in range(200):
        if step % 20 == 10:
            past = CardNetwork(variant, NetworkShape(4, 4))
            past.initialise(torch.Generator().manual_seed(step))
            league.add("past", past.eval(), venv.opponents)
        before = venv.opponents.copy()
        _, _, dones, infos = venv.step(legal_choices(venv.action_masks(), rng))
        assert (venv.opponents == before)[~dones].all()
        met |= set(venv.opponents.tolist())
        for row in np.flatnonzero(dones):
            expected = [*shares, "past"][min(before[row], 3)]
            assert infos[row]["opponent"] == expected
            credited[expected] += 1
    results = venv.take_results()
    assert {name: sum(counts) for name, counts in results.items()} == credited
    assert all(credited.values())
    assert len(met) > 5, "past selves that joined later were never met"
    assert not any(sum(counts) for counts in venv.take_results().values())


def test_results_are_the_learners_wins_draws_and_losses() -> None:
    venv = SelfPlayVecEnv("strategic-war", 32, opponents={"top": 1.0}, max_turns=9, **SMALL)
    venv.reset()
    rng, counts = np.random.default_rng(0), [0, 0, 0]
    for _ in range(100):
        _, rewards, dones, _ = venv.step(legal_choices(venv.action_masks(), rng))
        for reward in rewards[dones]:
            counts[1 - int(reward)] += 1
    assert all(counts)
    assert venv.take_results() == {"top": tuple(counts)}


@pytest.mark.parametrize("encoding", ["tokens", "vector"])
@pytest.mark.parametrize("game", GAMES)
def test_what_is_returned_has_the_declared_form_and_stays_the_callers(
    game: str, encoding: str
) -> None:
    venv = SelfPlayVecEnv(game, 6, opponents={"random": 1.0}, encoding=encoding, seed=3, **SMALL)
    twin = SelfPlayVecEnv(game, 6, opponents={"random": 1.0}, encoding=encoding, seed=3, **SMALL)
    assert isinstance(venv.action_space, spaces.Discrete)
    rng, kept = np.random.default_rng(0), []
    observation, other = venv.reset(), twin.reset()
    for _ in range(60):
        mask = venv.action_masks()
        assert mask.dtype == np.int8
        assert mask.any(axis=1).all()
        np.testing.assert_array_equal(np.stack(venv.env_method("action_masks")), mask)
        assert all(venv.observation_space.contains(row) for row in observation)
        np.testing.assert_array_equal(observation, other)
        actions = legal_choices(mask, rng)
        result: Any = venv.step(actions)
        other, *_ = twin.step(actions)
        observation, rewards, dones, infos = result
        assert rewards.dtype == np.float32
        assert dones.dtype == np.bool_
        arrays = [observation, rewards, dones, mask]
        arrays += [info["terminal_observation"] for info in infos if info]
        kept += [(array, array.copy()) for array in arrays]
        assert len({id(info) for info in infos}) == 6
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)
    # Garbage in what was returned reaches nobody.
    actions = legal_choices(venv.action_masks(), rng)
    for array, _ in kept:
        array[...] = 1
    np.testing.assert_array_equal(venv.step(actions)[0], twin.step(actions)[0])


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_action_loses_the_game_and_only_that_one(game: str) -> None:
    """There is none in Attack and Defence, so one is made up there through the mask."""
    venv = SelfPlayVecEnv(game, 4, opponents={"random": 1.0}, seed=3, **SMALL)
    twin = SelfPlayVecEnv(game, 4, opponents={"random": 1.0}, seed=3, **SMALL)
    venv.reset()
    twin.reset()
    actions = legal_choices(venv.action_masks(), np.random.default_rng(0))
    wrong = actions.copy()
    if game == "strategic-war":
        wrong[2] = int(np.flatnonzero(venv.action_masks()[2] == 0)[0])
    else:
        venv._games.mask[2, actions[2]] = 0
    seat = int(venv.seats[2])
    observation, rewards, dones, infos = venv.step(wrong)
    others, *_ = twin.step(actions)
    assert rewards.tolist() == [0.0, 0.0, -1.0, 0.0]
    assert dones.tolist() == [False, False, True, False]
    assert infos[2]["illegal_action"] == wrong[2]
    assert infos[2]["TimeLimit.truncated"] is False
    assert infos[2]["seat"] == seat
    assert venv.take_results() == {"random": (0, 0, 1)}
    kept = [0, 1, 3]
    np.testing.assert_array_equal(observation[kept], others[kept])


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (np.zeros(3, int), "shape"),
        (np.zeros(4), "dtype"),
        (np.array([0, 0, 2, 0]), "0 to 1"),
        (np.array([0, -1, 0, 0]), "0 to 1"),
    ],
)
def test_wrong_actions_are_refused_and_change_nothing(actions: Any, words: str) -> None:
    venv = SelfPlayVecEnv("attack-defence", 4, opponents={"random": 1.0}, seed=3)
    with pytest.raises(RuntimeError, match="reset"):
        venv.step(np.zeros(4, int))
    observation = venv.reset()
    with pytest.raises(ValueError, match=words):
        venv.step(actions)
    with pytest.raises(RuntimeError, match="step_async"):
        venv.step_wait()
    twin = SelfPlayVecEnv("attack-defence", 4, opponents={"random": 1.0}, seed=3)
    np.testing.assert_array_equal(twin.reset(), observation)
    good = np.zeros(4, int)
    np.testing.assert_array_equal(venv.step(good)[0], twin.step(good)[0])


class Broken:
    """An opponent that answers whatever it is told to."""

    name, encoding, memory = "broken", "vector", "table"

    def __init__(self, action: int, state: object) -> None:
        self.answer = (action, state)

    def act(self, observation: Any, action_mask: Any, seeds: Any, *more: Any) -> Any:
        assert observation.dtype == np.float32
        action_mask[:] = 1  # which helps it nothing
        action, state = self.answer
        return np.full(len(observation), action), state


def test_opponents_see_what_they_ask_for_and_cannot_break_rules() -> None:
    variant = make_variant("strategic-war", **SMALL)
    for action, state, words in ((2, None, "illegal"), (0, object(), "state")):
        league = League(variant, {"self": 1.0}, learner=Broken(action, state))
        venv = SelfPlayVecEnv("strategic-war", 8, variant, opponents=league, seed=1)
        with pytest.raises(OpponentFailedError, match=f"broken.*{words}"):
            venv.reset()


def first_observations(seed: int) -> set[bytes]:
    venv = SelfPlayVecEnv(
        "strategic-war", 64, "open-card", opponents={"top": 1.0}, encoding="tokens", seed=seed
    )
    return {row[51:].tobytes() for row in venv.reset()}


def test_deals_differ_between_rows_and_neighbouring_seeds() -> None:
    deals = [first_observations(seed) for seed in (0, 1, 2)]
    assert [len(found) for found in deals] == [64] * 3
    assert not deals[0] & deals[1]
    assert not deals[1] & deals[2]


@pytest.mark.field_case("S10")
def test_a_seed_fixes_everything_and_a_second_reset_goes_on() -> None:
    def play(venv: SelfPlayVecEnv) -> Iterator[bytes]:
        for _ in range(2):
            yield venv.reset().tobytes()
            for _ in range(20):
                yield venv.step(np.zeros(16, int))[0].tobytes()

    made = [
        SelfPlayVecEnv("attack-defence", 16, opponents={"random": 1, "memory": 1}, seed=seed)
        for seed in (9, 9, None, 8)
    ]
    made[3].seed(9)
    games = [list(play(venv)) for venv in made]
    assert games[0] == games[1] == games[3] != games[2]
    assert games[0][0] != games[0][21]


def test_training_deals_are_of_the_training_domain() -> None:
    venv = SelfPlayVecEnv("attack-defence", 4, opponents={"random": 1.0}, seed=4)
    venv.reset()
    raw = attack_defence_v0.raw_env()
    raw.reset(seed=4)
    state = seeding.generator_state(4, seeding.EVALUATION, 0)
    assert not np.array_equal(state, seeding.generator_state(4, seeding.TRAINING, 0))
    assert (
        raw.observe("player_0")["observation"].tolist()
        == venv._games._batch.observe([0], [0], encoding="vector")[0][0].tolist()
    )


def test_stable_baselines_asks_its_questions_and_trains() -> None:
    venv = SelfPlayVecEnv("strategic-war", 8, opponents={"random": 1.0}, seed=1, **SMALL)
    assert venv.has_attr("action_masks")
    assert not venv.has_attr("nonsense")
    assert venv.get_attr("render_mode", [0, 1]) == [None, None]
    assert venv.env_is_wrapped(object) == [False] * 8
    with pytest.raises(AttributeError, match="nonsense"):
        venv.env_method("nonsense")
    with pytest.raises(AttributeError, match="nonsense"):
        venv.set_attr("nonsense", 1)
    with pytest.raises(ValueError, match="options"):
        venv.set_options({"hands": ()})
    venv.set_options({})
    settings: dict[str, Any] = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "device": "cpu"}
    MaskablePPO("MlpPolicy", venv, **settings).learn(200)
    illegal: list[int] = []

    def count(local: dict[str, Any], _: Any) -> bool:
        illegal.extend(
            info["illegal_action"] for info in local["infos"] if "illegal_action" in info
        )
        return True

    PPO("MlpPolicy", venv, **settings).learn(200, callback=count)
    assert illegal, "plain PPO knows no masks"
    venv.close()
    venv.close()
