"""Checks on whole games that hold for every kind of environment."""

import itertools
import random
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from war_envs.testing.drivers import AECDriver, Driver, Seen, choice, frozen, record, turns
from war_envs.testing.strict import require

Make = Callable[[], Driver]
SEED: Final = 7
GAMES: Final = 3  # games in a row on one object
TURNS: Final = 40  # of each game, where the start is enough


def _games(driver: Driver, seed: int, between: Callable[[], None] = lambda: None) -> list[Any]:
    """Some games in a row, only the first of them seeded."""
    played = []
    for game in range(GAMES):
        between()
        driver.reset(seed if game == 0 else None)
        played.append(record(driver, seed))
    return played


def same_seed_gives_same_games(make: Make) -> None:
    """The same seed gives the same games to their ends, resets without a seed included."""
    driver = make()
    first = _games(driver, SEED)
    require(_games(driver, SEED) == first, "one object plays differently the second time")
    require(_games(make(), SEED) == first, "two objects play differently")


def deals_differ(make: Make) -> None:
    """Resets without a seed deal anew each time; so do other seeds, and no seed at all."""
    seeded, unseeded = make(), make()
    seeded.reset(SEED)
    in_a_row = [record(seeded, 0, TURNS)]
    alone: list[Any] = []
    for _ in range(7):
        for driver, games in ((seeded, in_a_row), (unseeded, alone)):
            driver.reset()
            games.append(record(driver, 0, TURNS))
    by_seed = []
    for seed in range(8):
        seeded.reset(seed)
        by_seed.append(record(seeded, 0, TURNS))
    for games, what in (
        (in_a_row, "resets that follow a seeded one"),
        (by_seed, "seeds 0 to 7"),
        (alone, "resets of an environment that never had a seed"),
    ):
        different = len(set(games))
        require(different > 2, f"{what} give only {different} different games of {len(games)}")


def observations_and_masks_fit_their_spaces(make: Make) -> None:
    """Observations lie in their spaces, and a mask is what its action space's ``sample`` wants."""
    driver = make()
    driver.reset(SEED)
    for turn in turns(driver, np.random.default_rng(SEED)):
        for agent, seen in turn.items():
            observation_space, action_space = driver.spaces(agent)
            require(driver.spaces(agent)[0] is observation_space, "observation_space is made anew")
            require(driver.spaces(agent)[1] is action_space, "action_space is made anew")
            require(
                observation_space.contains(seen.observation),
                f"an observation of {agent} is not in its space",
            )
            mask = seen.mask
            if mask is None or seen.over:
                continue
            require(isinstance(mask, np.ndarray), f"the mask is a {type(mask).__name__}")
            require(mask.dtype == np.int8, f"the mask is {mask.dtype}, not int8")
            require(mask.shape == (action_space.n,), f"the mask's shape is {mask.shape}")
            require(set(mask.tolist()) <= {0, 1}, f"the mask is {mask.tolist()}")
            require(mask.any(), f"{agent} must choose, but its action mask allows nothing")
            require(mask[action_space.sample(mask) - action_space.start], "sample(mask) is illegal")


def rewards_and_flags_are_plain_python(make: Make) -> None:
    """Rewards are float or int, flags are bool and infos are dict, none of them NumPy's."""
    driver = make()
    driver.reset(SEED)
    for turn in turns(driver, np.random.default_rng(SEED)):
        for seen in turn.values():
            require(
                type(seen.reward) in (float, int), f"a reward is a {type(seen.reward).__name__}"
            )
            require(type(seen.terminated) is bool, f"terminated is {seen.terminated!r}")
            require(type(seen.truncated) is bool, f"truncated is {seen.truncated!r}")
            require(isinstance(seen.info, dict), f"an info is a {type(seen.info).__name__}")


def _form(info: dict[str, Any]) -> dict[str, Any]:
    """What a tensor library must know of an info: each entry's type, and of arrays their shape."""
    return {
        name: (value.dtype, value.shape) if isinstance(value, np.ndarray) else type(value)
        for name, value in info.items()
    }


def infos_keep_their_form(make: Make) -> None:
    """Infos have the same keys, types and shapes from reset to the end."""
    driver = make()
    driver.reset(SEED)
    first: dict[str, dict[str, Any]] = {}
    for turn in turns(driver, np.random.default_rng(SEED)):
        for agent, seen in turn.items():
            form = _form(seen.info)
            expected = first.setdefault(agent, form)
            require(form == expected, f"the info of {agent} is {form}, at first it was {expected}")


def _arrays(turn: dict[str, Seen]) -> list[Any]:
    """All arrays that a turn shows, one level deep in dicts."""
    shown = [part for seen in turn.values() for part in (seen.observation, seen.info)]
    parts = [part.values() if isinstance(part, dict) else [part] for part in shown]
    return [value for part in parts for value in part if isinstance(value, np.ndarray)]


def what_is_shown_belongs_to_the_caller(make: Make) -> None:
    """Later steps change no array that was shown, and writing to what was shown changes nothing."""
    driver = make()
    driver.reset(SEED)
    kept: list[tuple[dict[str, Seen], Any]] = []
    for turn in turns(driver, np.random.default_rng(SEED)):
        for earlier, _ in kept[-2:]:
            for old, new in itertools.product(_arrays(earlier), _arrays(turn)):
                require(not np.shares_memory(old, new), "two turns share an array")
        kept.append((turn, frozen(turn)))
    require(all(frozen(turn) == then for turn, then in kept), "a later step wrote to an old array")

    def scribble(turn: dict[str, Seen]) -> None:
        for array in _arrays(turn):
            array[...] = 0
        for seen in turn.values():
            seen.info["scribble"] = "anything"

    driver.reset(SEED)
    again = [frozen(turn) for turn in turns(driver, np.random.default_rng(SEED), scribble)]
    require(again == [then for _, then in kept], "writing to what was shown changes the game")


def copies_go_on_alike(make: Make) -> None:
    """A copy plays on as the original does, later deals included, and apart from it."""
    driver = make()
    for stop in (1, 2, 9, None):  # the first turn, the second, the ninth, the end
        driver.reset(SEED)
        list(itertools.islice(turns(driver, np.random.default_rng(SEED)), stop))
        copies = {way: driver.copied(way) for way in driver.ways}
        futures = {way: _future(other) for way, other in copies.items()}
        original = _future(driver)
        for way, future in futures.items():
            require(future == original, f"{way} at turn {stop} plays on differently")


def _future(driver: Driver) -> list[Any]:
    """The rest of this game, and the start of the next."""
    rest = record(driver, SEED)
    driver.reset()
    return [rest, record(driver, SEED, TURNS)]


def global_generators_are_left_alone(make: Make) -> None:
    """Games neither read nor write the generators of random, NumPy and (if it is loaded) torch."""
    torch = sys.modules.get("torch")

    def state() -> Any:
        numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002 (what must not be touched)
        return (
            random.getstate(),
            repr(numpy_state),
            None if torch is None else torch.get_rng_state().numpy().tobytes(),
        )

    def disturb() -> None:
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        if torch is not None:
            torch.manual_seed(1)

    saved = random.getstate(), np.random.get_state()  # noqa: NPY002
    before = state()
    alone = _games(make(), SEED)
    require(state() == before, "a global generator was drawn from or seeded")
    try:
        require(_games(make(), SEED, disturb) == alone, "a global generator decides the games")
    finally:
        random.setstate(saved[0])
        np.random.set_state(saved[1])  # noqa: NPY002


def rewards_sum_to_zero(make: Make) -> None:
    """Over a game, what the agents are given sums to zero, each final reward delivered once."""
    driver = make()
    driver.reset(SEED)
    for _ in range(GAMES):
        total: dict[str, float] = {}
        for turn in turns(driver, np.random.default_rng(SEED)):
            for agent, seen in turn.items():
                total[agent] = total.get(agent, 0.0) + seen.reward
        require(sum(total.values()) == 0, f"the rewards of a game sum to {total}")
        driver.reset()


def agents_leave_one_by_one(make: Make) -> None:
    """Both agents are shown their end, each takes one step of None, and then nobody is left."""
    env: Any = make().env
    env.reset(seed=SEED)
    require(env.agents == env.possible_agents, "after reset not all agents are there")
    rng = np.random.default_rng(SEED)
    driver = AECDriver(env)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        require(env.agents == env.possible_agents, "an agent left before the end")
        driver.act({a: choice(driver, a, seen, rng) for a, seen in driver.turn().items()})
    ends = []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        require(terminated or truncated, f"{agent} goes on after the end")
        require(
            (terminated, truncated) == (env.terminations[agent], env.truncations[agent]),
            "last() and the books differ",
        )
        ends.append((agent, reward))
        env.step(None)
        left = [other for other in env.possible_agents if other not in dict(ends)]
        for name in ("agents", "rewards", "terminations", "truncations", "infos"):
            require(sorted(getattr(env, name)) == left, f"{name} does not lose those who left")
        require(not any(env.rewards.values()), "a final reward is handed out again")
    require(sorted(dict(ends)) == env.possible_agents, f"only {dict(ends)} were shown their end")
    require(len(ends) == len(env.possible_agents), "an agent was shown its end twice")


def rendering_changes_nothing(make: Make) -> None:
    """A game that is drawn at every turn is the same game."""
    driver = make()
    if getattr(driver.env, "render_mode", None) is None:
        return
    driver.reset(SEED)
    plain = record(driver, SEED)
    driver.reset(SEED)
    rng = np.random.default_rng(SEED)
    drawn = (frozen(turn) for turn in turns(driver, rng, lambda _: driver.env.render()))
    require(tuple(drawn) == plain, "drawing changes the game")
    driver.env.render()  # the end can be drawn too


def closing_twice_is_allowed(make: Make) -> None:
    """``close`` may be called before the first reset, and twice."""
    driver = make()
    driver.env.close()
    driver.env.close()


ALL: Final = (
    same_seed_gives_same_games,
    deals_differ,
    observations_and_masks_fit_their_spaces,
    rewards_and_flags_are_plain_python,
    what_is_shown_belongs_to_the_caller,
    copies_go_on_alike,
    global_generators_are_left_alone,
    rendering_changes_nothing,
    closing_twice_is_allowed,
)
