"""One seat against an agent, as a Gymnasium environment."""

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from tests.support.envs import AGENTS, raw_env, wrapped_env
from war_agents import make
from war_agents.versus.single import VersusEnv
from war_envs.cards import GameName
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.info import Ending
from war_envs.registration import GYMNASIUM_IDS
from war_envs.strategic_war.rules import BOTTOM, FIGHT, SURRENDER, TOP
from war_envs.variant import GAMES, make_variant

SHORT: dict[str, Any] = {"minimal": True, "num_ranks": 5}
HANDS = {
    "attack-defence": (["AH", "3H"], ["3S", "AS", "4S"]),
    "strategic-war": (["2H", "9H", "AH"], ["KS", "3S"]),
}


class Recorder:
    """Chooses by its seeds and by what it remembers, and notes all that it is given."""

    def __init__(self, encoding: str = "tokens", memory: str = "perfect") -> None:
        self.name = "recorder"
        self.encoding = encoding
        self.memory = memory
        self.calls: list[tuple[Any, ...]] = []

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        assert starts is None or starts.tolist() == [state is None]
        number = 0 if state is None else int(state[0])
        allowed = np.flatnonzero(action_mask[0])
        action = int(allowed[(int(seeds[0] >> np.uint64(20)) + number) % len(allowed)])
        self.calls.append((observation.copy(), action_mask.copy(), seeds.copy(), state, action))
        observation[:] = 0  # what an agent does to its arrays is its own affair
        action_mask[:] = 0
        return np.array([action]), np.array([number + 1])


class Answers:
    """Answers whatever it was made with, or raises it."""

    name = "oddball"
    encoding = "tokens"
    memory = "perfect"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, *_: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def legal(mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, seed: int | None, episodes: int = 1, choices: int = 7) -> list[Any]:
    """What an environment shows in some episodes of random legal choices."""
    rng = np.random.default_rng(choices)
    shown: list[Any] = []
    for episode in range(episodes):
        observation, info = env.reset(seed=seed if episode == 0 else None)
        shown.append(plain(observation, info))
        shown += rest(env, info["action_mask"], rng)
    return shown


def rest(env: Any, mask: NDArray[np.int8], rng: np.random.Generator) -> list[Any]:
    """The rest of an episode."""
    shown = []
    over = False
    while not over:
        observation, *result, info = env.step(legal(mask, rng))
        shown.append((*plain(observation, info), *result))
        over = result[1] or result[2]
        mask = info["action_mask"]
    return shown


def plain(observation: NDArray[Any], info: dict[str, Any]) -> tuple[Any, ...]:
    """An observation and an info, to be compared."""
    shown = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in info.items()}
    return observation.tobytes(), shown


# --- how it is made ---


def test_it_is_made_by_its_ids() -> None:
    env = gymnasium.make("war_envs/AttackDefence-v0", opponent="memory", fair=True)
    versus: Any = env.unwrapped
    assert (versus.variant.name, versus.opponent.name) == ("fair", "memory")
    for prefix in ("", "war_envs:"):
        id_ = f"{prefix}war_envs/StrategicWar-Minimal-Fair-OpenCard-v0"
        fixed: Any = gymnasium.make(id_).unwrapped
        assert fixed.variant == make_variant("strategic-war", "minimal+fair+open-card")
        assert fixed.opponent.name == "random"
    assert len(GYMNASIUM_IDS) == 16
    for id_ in GYMNASIUM_IDS:
        with gymnasium.make(id_, num_ranks=3) as env:
            env.reset(seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "chess"}, "game='chess' is unknown; choose from attack-defence"),
        ({"opponent": "nobody"}, "'nobody' is unknown to .*; choose from random, attack, defend"),
        ({"opponent": 7}, "opponent=7 is not allowed; give a name, a path or an agent"),
        ({"opponent": Recorder}, r"is the class Recorder; give an agent, such as Recorder\(\)"),
        ({"oponent": "memory"}, "option 'oponent' is unknown to .*; there are .*opponent, "),
        ({"opponent": Recorder(encoding="words")}, "encoding of agent 'recorder'='words'"),
        ({"opponent": Recorder(memory="none")}, "memory of agent 'recorder'='none'"),
        ({"seat": 2}, "seat=2 is not allowed; choose from 0, 1, player_0, player_1 and None"),
        ({"seat": "left"}, "seat='left' is not allowed"),
        ({"seat": True}, "seat=True is not allowed"),
        ({"seat": np.array([0, 1])}, "seat=array"),
        ({"encoding": "words"}, "encoding='words'"),
        ({"memory": "none"}, "memory='none'"),
        ({"num_ranks": 4}, "num_ranks=4"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"minimal": 1}, "minimal=1"),
        ({"own_card": "top"}, "own_card='top'"),
        ({"game": "strategic-war", "own_card": "first"}, "own_card.* unknown to strategic-war"),
        ({"render_mode": "human"}, "render_mode='human'"),
        ({"render_view": "nobody"}, "render_view='nobody'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        VersusEnv(**{"game": "attack-defence", **options})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("id_", [GYMNASIUM_IDS[0], GYMNASIUM_IDS[9], GYMNASIUM_IDS[15]])
@pytest.mark.parametrize("options", [{}, {"encoding": "tokens", "opponent": "memory", "seat": 1}])
def test_stock_checks(id_: str, options: dict[str, Any]) -> None:
    env = gymnasium.make(id_, render_mode="ansi", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
        for seed in range(5):
            env.action_space.seed(seed)
            sb3_check_env(env)


# --- the game that is played ---


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", ["memory", "random"])
def test_it_is_the_game_of_the_other_environments(game: GameName, seat: int, opponent: str) -> None:
    env = VersusEnv(game, opponent=opponent, seat=seat, memory="table", **SHORT)
    raw = raw_env(game, encoding="vector", memory="table", **SHORT)
    agent = make(opponent, game=game, variant=env.variant)
    rng = np.random.default_rng(seat)
    player, other = AGENTS[seat], AGENTS[1 - seat]
    stream = seeding.generator_state(11, seeding.AGENTS, 0)[:1]
    asked = 0
    results = []
    for seed in (11, None, None, None):
        observation, info = env.reset(seed=seed)
        raw.reset(seed=seed)
        reward = 0.0
        while True:
            while raw.agent_selection == other and not raw.terminations[other]:
                seen = raw.observe(other, encoding=agent.encoding, memory=agent.memory)
                rows = seen["observation"][None], seen["action_mask"][None]
                answer, _ = agent.act(*rows, seeding.action_seeds(stream, asked))
                asked += 1
                raw.step(int(answer[0]))
            expected = raw.observe(player)
            np.testing.assert_array_equal(observation, expected["observation"])
            assert env.observation_space.contains(observation)
            if raw.terminations[player] or raw.truncations[player]:
                break
            np.testing.assert_array_equal(info["action_mask"], expected["action_mask"])
            action = legal(info["action_mask"], rng)
            raw.step(action)
            observation, reward, terminated, truncated, info = env.step(action)
            assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        assert (terminated, truncated) == (raw.terminations[player], raw.truncations[player])
        assert reward == raw.rewards[player]
        assert info == {**raw.infos[player], "seat": seat, "action_mask": info["action_mask"]}
        assert env.outcome == raw.outcome != ""
        results.append(reward)
    assert len(results) == 4


@pytest.mark.parametrize("game", GAMES)
def test_a_seed_deals_what_env_deals(game: GameName) -> None:
    other = wrapped_env(game)
    for seed in range(5):
        other.reset(seed=seed)
        seat = int(AGENTS.index(other.agent_selection))
        observation, _ = VersusEnv(game, seat=seat).reset(seed=seed)
        np.testing.assert_array_equal(observation, other.last()[0]["observation"])


@pytest.mark.parametrize("game", GAMES)
def test_what_is_shown(game: GameName) -> None:
    env = VersusEnv(game, **SHORT)
    observation, info = env.reset(seed=0)
    assert isinstance(observation, np.ndarray)
    keys = [*ENGINES[game].info_keys, "seat", "action_mask"]
    assert (env.event, env.outcome) == ("", "")
    shown: list[Any] = [observation, info["action_mask"], env.action_masks()]
    rng = np.random.default_rng(0)
    over = False
    while not over:
        mask = info["action_mask"]
        assert mask.dtype == np.int8
        assert mask.tolist() == env.action_masks().tolist()
        assert 1 in mask
        assert mask[env.action_space.sample(mask=mask)] == 1
        observation, reward, terminated, truncated, info = env.step(legal(mask, rng))
        over = terminated or truncated
        assert list(info) == keys
        assert all(type(info[key]) is np.int64 for key in keys if key != "action_mask")
        assert over or (reward == 0 and env.outcome == "")
        assert over == (info["ending"] != Ending.RUNNING)
        assert "player_" in env.event
        shown += [observation, info["action_mask"], env.action_masks()]
    assert env.outcome
    assert info["action_mask"].tolist() == [1] * len(mask)  # whoever asks a policy can
    for i, one in enumerate(shown):
        assert not any(np.shares_memory(one, two) for two in shown[:i])


def test_events_tell_all_that_happened_since_the_last_choice() -> None:
    env = VersusEnv("strategic-war", opponent="top", seat=0, info_text=True)
    options = {"hands": (["2H", "9H", "AH"], ["KS", "3S"]), "first_attacker": 1}
    _, info = env.reset(seed=0, options=options)
    assert info["event"] == "player_1 flips KS from the top"
    *_, info = env.step(BOTTOM)
    assert info["event"] == "player_0 flips AH from the bottom: player_0 takes 2 cards"
    *_, info = env.step(TOP)
    assert info["event"] == (
        "player_0 flips 2H from the top; player_1 flips 3S from the top: player_1 takes 2 cards; "
        "player_1 flips 3S from the top"
    )
    env = VersusEnv("attack-defence", opponent="attack", seat=1, info_text=True)
    _, info = env.reset(seed=0, options={"hands": (["2H", "3H"], ["AS", "4S"])})
    assert info["event"] == ""
    *_, info = env.step(1)
    assert info["event"] == (
        "player_0 attacks with 2H, player_1 defends with AS: player_0 takes AS"
    )


@pytest.mark.parametrize("game", GAMES)
def test_every_game_ends_and_truncation_is_told(game: GameName) -> None:
    env = VersusEnv(game, max_turns=2, **SHORT)
    ends = set()
    for seed in range(40):
        *_, (_, info, reward, terminated, truncated) = play(env, seed, choices=seed)
        assert terminated != truncated
        assert reward == 0 or terminated
        assert truncated == ("truncated" in env.outcome)
        assert truncated == (info["ending"] == Ending.TRUNCATED)
        ends.add((terminated, truncated))
    assert (False, True) in ends


@pytest.mark.parametrize("game", GAMES)
def test_rewards_go_to_the_right_seat(game: GameName) -> None:
    env = VersusEnv(game, opponent="random", minimal=True)
    seats = set()
    for seed in range(60):
        *_, (_, info, reward, terminated, _) = play(env, seed, choices=seed)
        if terminated and reward:
            winner = env.outcome.rsplit(": ")[1]
            assert reward == (1 if winner == f"{AGENTS[info['seat']]} wins" else -1)
            assert reward == (1 if info["winner"] == info["seat"] else -1)
            seats.add((info["seat"], reward))
    assert len(seats) == 4


# --- illegal and impossible choices ---


@pytest.mark.field_case("A14")
def test_an_illegal_choice_loses() -> None:
    env = VersusEnv("strategic-war", seat=1, opponent="top")
    options = {"hands": HANDS["strategic-war"], "first_attacker": 1}
    for action in (FIGHT, SURRENDER):
        env.reset(seed=0, options=options)
        _, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert type(reward) is float
        assert info["illegal"] == 1
        assert info["ending"] == Ending.ILLEGAL
        assert info["winner"] == 0
        assert "illegal" in env.event
        assert env.outcome == "player_1 made an illegal choice: player_0 wins"
        with pytest.raises(ValueError, match=r"the game is over; call reset\(\)"):
            env.step(TOP)
    _, info = env.reset(options=options)
    assert info["illegal"] == -1
    *_, info = env.step(TOP)
    assert info["illegal"] == -1


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("action", [-1, 4, 0.5, "0", None, True, np.array([0])])
def test_an_impossible_choice_is_refused(game: GameName, action: Any) -> None:
    env, other = VersusEnv(game), VersusEnv(game)
    env.reset(seed=3)
    other.reset(seed=3)
    with pytest.raises(ValueError, match=r"action=.* is not an action; choose from 0 "):
        env.step(action)
    assert plain(*env.step(0)[::4]) == plain(*other.step(0)[::4])


def test_a_choice_may_be_any_integer() -> None:
    env, other = VersusEnv("attack-defence"), VersusEnv("attack-defence")
    for action in (1, np.int64(1), np.uint8(1), np.array(1)):  # the last is what SB3 predicts
        env.reset(seed=3)
        other.reset(seed=3)
        given: Any = action
        assert plain(*env.step(given)[::4]) == plain(*other.step(1)[::4])


@pytest.mark.field_case("A05")
@pytest.mark.parametrize("game", GAMES)
def test_before_reset_and_after_the_end(game: GameName) -> None:
    env = VersusEnv(game, render_mode="ansi", **SHORT)
    uses: list[Callable[[], Any]] = [
        lambda: env.step(0),
        env.action_masks,
        env.render,
        lambda: env.seat,
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            use()
    env.close()
    play(env, 0)
    with pytest.raises(ValueError, match=r"reset\(\)"):
        env.step(0)
    assert env.render()
    assert env.action_masks().all()
    env.close()
    env.close()


@pytest.mark.parametrize("game", GAMES)
def test_a_bad_reset_changes_nothing(game: GameName) -> None:
    env, other = VersusEnv(game), VersusEnv(game)
    env.reset(seed=3)
    other.reset(seed=3)
    bad: list[dict[str, Any]] = [
        {"seed": -1},
        {"seed": 1.5},
        {"seed": 2**63},
        {"options": {"hand": [["AS"], ["AH"]]}},
        {"options": {"hands": [[], ["AS"]]}},
        {"seed": 4, "options": {"hands": [["AS"], ["AS"]]}},
        {"seed": 4, "options": 5},
        {"options": {"first_attacker": 2}},
    ]
    for arguments in bad:
        with pytest.raises(ValueError, match=r"seed|option|hands|first_attacker"):
            env.reset(**arguments)
    _, _, _, _, info = env.step(0)
    assert info == {**other.step(0)[4], "action_mask": info["action_mask"]}
    assert play(env, None) == play(other, None)


# --- seats, seeds, the opponent ---


def test_the_seat_is_given_or_drawn() -> None:
    spelt: list[tuple[Any, int]] = [(0, 0), (1, 1), ("player_0", 0), ("player_1", 1)]
    for seat, number in [*spelt, (np.int64(1), 1)]:
        env = VersusEnv("attack-defence", seat=seat)
        for seed in (1, None, 2, None):
            _, info = env.reset(seed=seed)
            assert env.seat == info["seat"] == number
    env = VersusEnv("attack-defence")
    by_seed = [env.reset(seed=seed)[1]["seat"] for seed in range(200)]
    assert by_seed == [env.reset(seed=seed)[1]["seat"] for seed in range(200)]
    assert 70 < sum(by_seed) < 130
    env.reset(seed=5)
    in_a_row = [env.reset()[1]["seat"] for _ in range(200)]
    assert 70 < sum(in_a_row) < 130
    env.reset(seed=5)
    assert in_a_row == [env.reset()[1]["seat"] for _ in range(200)]
    fixed = VersusEnv("attack-defence", seat=0)
    drawn = [play(env, seed)[0] for seed in range(8)]
    given = [play(fixed, seed)[0] for seed in range(8)]
    assert [d == g for d, g in zip(drawn, given, strict=True)] == [s == 0 for s in by_seed[:8]]


@pytest.mark.parametrize("game", GAMES)
def test_a_seed_fixes_all_that_follows(game: GameName) -> None:
    env = VersusEnv(game, **SHORT)
    first = play(env, 42, episodes=3)
    assert first == play(env, 42, episodes=3) == play(VersusEnv(game, **SHORT), 42, episodes=3)
    assert first != play(env, 43, episodes=3)
    fresh = [play(VersusEnv(game, **SHORT), None)[0] for _ in range(4)]
    assert len({str(shown) for shown in fresh}) > 1
    visible = VersusEnv(game, open_cards=True)
    deals = [visible.reset(seed=seed)[0].tobytes() for seed in (42, None, None, None)]
    assert len(set(deals)) == 4
    assert deals == [visible.reset(seed=seed)[0].tobytes() for seed in (42, None, None, None)]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("encoding", "memory"), [("tokens", "table"), ("vector", "perfect")])
def test_the_opponent_sees_its_own_seat_in_its_own_way(
    game: GameName, encoding: str, memory: str
) -> None:
    agent = Recorder(encoding, memory)
    env = VersusEnv(game, opponent=agent, seat=0, **SHORT)
    assert env.opponent is agent
    raw = raw_env(game, encoding=encoding, memory=memory, **SHORT)
    env.reset(seed=1)
    raw.reset(seed=1)
    rng = np.random.default_rng(1)
    choices = []
    over = False
    while not over:
        choices.append(legal(env.action_masks(), rng))
        _, _, terminated, truncated, _ = env.step(choices[-1])
        over = terminated or truncated
    calls = iter(agent.calls)
    while not raw.terminations["player_0"] and not raw.truncations["player_0"]:
        if raw.agent_selection == "player_0":
            raw.step(choices.pop(0))
            continue
        observation, mask, *_, answer = next(calls)
        seen = raw.observe("player_1")
        np.testing.assert_array_equal(observation, seen["observation"][None])
        np.testing.assert_array_equal(mask, seen["action_mask"][None])
        raw.step(answer)
    assert not choices
    assert next(calls, None) is None


def test_the_opponent_draws_from_seeds_of_its_own() -> None:
    drawn = []
    for seat in (0, 1):
        agent = Recorder()
        play(VersusEnv("attack-defence", opponent=agent, seat=seat, **SHORT), 3, episodes=3)
        assert all(call[2].dtype == np.uint64 and call[2].shape == (1,) for call in agent.calls)
        drawn.append([int(call[2][0]) for call in agent.calls])
        assert len(set(drawn[seat])) == len(drawn[seat]) > 10
    assert drawn[0][:10] == drawn[1][:10]  # they follow from the environment's seed alone


def test_the_opponent_remembers_a_game_and_no_longer() -> None:
    agent = Recorder()
    env = VersusEnv("attack-defence", opponent=agent, **SHORT)
    play(env, 3, episodes=3)
    begun = [i for i, call in enumerate(agent.calls) if call[3] is None]
    assert len(begun) == 3
    for first, last in zip(begun, [*begun[1:], len(agent.calls)], strict=True):
        numbers = [int(call[3][0]) for call in agent.calls[first + 1 : last]]
        assert numbers == list(range(1, last - first))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((np.array([4]), None), "illegal action 4"),
        ((np.array([2]), None), "illegal action 2; legal were"),
        ((np.array([0, 0]), None), r"shape \(2,\)"),
        ((np.array(0), None), r"shape \(\)"),
        ((np.array([0.0]), None), "dtype float64"),
        ((None, None), "dtype object"),
        (np.array([0]), "must be .actions, state."),
        (None, "None"),
        (ZeroDivisionError("by nothing"), "by nothing"),
    ],
    ids=str,
)
def test_an_opponent_that_misbehaves_is_named(answer: Any, message: str) -> None:
    agent = Answers(answer)
    env = VersusEnv("strategic-war", opponent=agent, seat=0)
    with pytest.raises(RuntimeError, match=f"the opponent, agent 'oddball', has failed.*{message}"):
        env.reset(seed=0, options={"first_attacker": 1})
    with pytest.raises(ValueError, match=r"the opponent has failed in this game; call reset\(\)"):
        env.step(0)
    env.reset(seed=0, options={"first_attacker": 0})
    with pytest.raises(RuntimeError, match="agent 'oddball'"):
        env.step(0)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step(0)
    agent.answer = (np.array([0]), None)
    env.reset(seed=0, options={"first_attacker": 1})
    assert env.event.startswith("player_1 flips")


@pytest.mark.parametrize("game", GAMES)
def test_given_hands(game: GameName) -> None:
    env = VersusEnv(game, opponent="memory", seat=0, encoding="tokens")
    raw = raw_env(game, encoding="tokens")
    options: dict[str, Any] = {"hands": HANDS[game]}
    if game == "strategic-war":
        options["first_attacker"] = "player_0"
    observation, _ = env.reset(options=options)
    raw.reset(options=options)
    np.testing.assert_array_equal(observation, raw.observe("player_0")["observation"])


def test_render_draws_what_the_player_sees() -> None:
    def drawn(**options: Any) -> str:
        env = VersusEnv("attack-defence", render_mode="ansi", **options)
        env.reset(seed=0)
        text = env.render()
        assert isinstance(text, str)
        return text

    views = [drawn(seat=0), drawn(seat=1), drawn(seat=0, render_view="all")]
    assert len(set(views)) == 3
    assert drawn(seat=1, render_view="player_0") == views[0]
    assert drawn(seat=0, render_view="player_1") == views[1]
    env = VersusEnv("attack-defence", render_mode="ansi")
    for seed in range(6):
        _, info = env.reset(seed=seed)
        other = VersusEnv("attack-defence", render_mode="ansi", seat=info["seat"])
        other.reset(seed=seed)
        assert env.render() == other.render()


# --- copies and many at once ---

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": lambda env: copy.copy(env.unwrapped),
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: cloudpickle.loads(cloudpickle.dumps(env)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id_", [GYMNASIUM_IDS[2], GYMNASIUM_IDS[12]])
@pytest.mark.parametrize("opponent", ["random", "recorder"])
def test_copies_go_on_alike(way: str, id_: str, opponent: str) -> None:
    agent = Recorder() if opponent == "recorder" else opponent
    options: dict[str, Any] = {"max_turns": 90, "num_ranks": 7, "seat": 1, "render_mode": "ansi"}
    options |= {"encoding": "tokens", "memory": "table", "opponent": agent, "render_view": "all"}
    env: Any = gymnasium.make(id_, **options)
    unused = WAYS[way](env)
    assert play(unused, 1) == play(gymnasium.make(id_, **options), 1)
    rng = np.random.default_rng(0)
    for steps in (0, 3, None):
        _, info = env.reset(seed=8)
        if steps is None:
            rest(env, info["action_mask"], rng)
        else:
            for _ in range(steps):
                *_, info = env.step(legal(info["action_mask"], rng))
        original = env.unwrapped
        other = WAYS[way](env)
        twin = other.unwrapped
        for name in ("variant", "seat", "render_mode", "observation_space", "action_space"):
            assert getattr(twin, name) == getattr(original, name)
        assert twin.spec == original.spec or opponent == "recorder"
        assert twin.spec.id == id_
        assert twin.render() == original.render()
        assert twin.opponent is not original.opponent
        before = original.action_masks(), original.render()
        futures = []
        for one in (other, env):
            future = (
                [] if steps is None else rest(one, info["action_mask"], np.random.default_rng(1))
            )
            futures.append(future + play(one, None, episodes=2))
            if one is other:
                assert (original.action_masks() == before[0]).all()
                assert original.render() == before[1]
        assert futures[0] == futures[1]


def test_many_at_once_show_the_true_end() -> None:
    options: dict[str, Any] = {"opponent": "memory", "encoding": "tokens", "seat": 0, **SHORT}
    id_ = "war_envs/StrategicWar-OpenCard-v0"
    many = SyncVectorEnv(
        [lambda: gymnasium.make(id_, **options)] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    alone = [gymnasium.make(id_, **options) for _ in range(3)]
    observations, infos = many.reset(seed=5)
    shown = [env.reset(seed=5 + i) for i, env in enumerate(alone)]
    assert len({observation.tobytes() for observation, _ in shown}) == 3
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        for i, (observation, info) in enumerate(shown):
            np.testing.assert_array_equal(observations[i], observation)
            np.testing.assert_array_equal(infos["action_mask"][i], info["action_mask"])
        actions = np.array([legal(mask, rng) for mask in infos["action_mask"]])
        observations, rewards, terminated, truncated, infos = many.step(actions)
        for i, env in enumerate(alone):
            observation, reward, *flags, info = env.step(int(actions[i]))
            assert (rewards[i], [terminated[i], truncated[i]]) == (reward, flags)
            if any(flags):
                ended += 1
                np.testing.assert_array_equal(infos["final_obs"][i], observation)
                for key in info:
                    np.testing.assert_array_equal(infos["final_info"][key][i], info[key])
                observation, info = env.reset()
            shown[i] = observation, info
    assert ended > 5
    many.close()


@pytest.mark.process
def test_make_vec_and_workers() -> None:
    for mode in ("sync", "async"):
        many = gymnasium.make_vec(
            "war_envs:war_envs/AttackDefence-v0", 2, vectorization_mode=mode, opponent="memory"
        )
        observations, infos = many.reset(seed=1)
        assert observations.shape[0] == infos["action_mask"].shape[0] == 2
        many.step(np.array([0, 1]))
        many.close()


@pytest.mark.process
@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_a_new_process_finds_the_id(context: str) -> None:
    id_ = "war_envs:war_envs/AttackDefence-Minimal-v0"
    many = AsyncVectorEnv([lambda: gymnasium.make(id_, opponent="memory")], context=context)
    observations, _ = many.reset(seed=4)
    expected, _ = gymnasium.make(id_, opponent="memory").reset(seed=4)
    np.testing.assert_array_equal(observations[0], expected)
    many.close()


def test_maskable_ppo_finds_the_masks() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import DummyVecEnv

    env = DummyVecEnv([lambda: gymnasium.make("war_envs/StrategicWar-v0", seat=0)] * 2)
    assert is_masking_supported(env)
    env.seed(1)
    env.reset()
    masks = get_action_masks(env)
    assert masks.shape == (2, 4)
    assert masks.tolist() == [[1, 1, 0, 0]] * 2


@pytest.mark.filterwarnings("ignore:.*rgb_array")  # Gymnasium says that there are no pictures
@pytest.mark.parametrize("id_", ["war_envs/AttackDefence-v0", "war_envs/StrategicWar-Minimal-v0"])
def test_stable_baselines_make_vec_env_makes_an_id(id_: str) -> None:
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(id_, n_envs=2, seed=3)
    assert len(envs.reset()) == 2
    envs.close()


def test_a_render_mode_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="render_mode='human' is not allowed; use 'ansi'"):
        VersusEnv("attack-defence", render_mode="human")  # type: ignore[arg-type]


# --- infos ---


@pytest.mark.parametrize("game", GAMES)
def test_words_are_in_infos_where_they_are_asked_for(game: GameName) -> None:
    env, bare = VersusEnv(game, info_text=True, **SHORT), VersusEnv(game, **SHORT)
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=1)
    _, expected = bare.reset(seed=1)
    over = False
    while not over:
        assert list(info) == [*expected, "event", "outcome"]
        assert (info["event"], info["outcome"]) == (bare.event, bare.outcome)
        assert (info["event"], info["outcome"]) == (env.event, env.outcome)
        action = legal(info["action_mask"], rng)
        _, _, terminated, truncated, info = env.step(action)
        *_, expected = bare.step(action)
        over = terminated or truncated
    for name in ("event", "outcome"):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            getattr(VersusEnv(game), name)
    with pytest.raises(ValueError, match="info_text=1 is not allowed"):
        VersusEnv(game, info_text=1)  # type: ignore[arg-type]
