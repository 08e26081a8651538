"""What must be refused, by an error that says why, and must change nothing."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import gymnasium
import numpy as np

from war_envs.testing.checks import SEED, Make
from war_envs.testing.drivers import Driver, Seen, choice, frozen, record
from war_envs.testing.strict import require

BOOKS: Final = ("agents", "rewards", "terminations", "truncations", "infos")
Kinds = tuple[type[Exception], ...]
VALUE: Final[Kinds] = (ValueError,)
REFUSALS: Final[Kinds] = (ValueError, TypeError, gymnasium.error.Error)
BEFORE_RESET: Final[Kinds] = (AttributeError, RuntimeError, AssertionError, *REFUSALS)


def _refused(what: str, kinds: Kinds, call: Callable[..., Any], *args: Any) -> str:
    """The message of the error that ``call(*args)`` must raise."""
    try:
        call(*args)
    except kinds as error:
        return str(error)
    raise AssertionError(f"{what} is not refused")


def _names_reset(env: Any, names: Iterable[str], **calls: tuple[Any, ...]) -> None:
    """Before the first reset, these attributes, and methods with their arguments, name reset()."""

    def use(name: str) -> None:
        result = getattr(env, name)
        if name in calls:
            result = result(*calls[name])
        if name == "agent_iter":
            next(iter(result))

    for name in (*names, *calls):
        message = _refused(f"{name} before reset()", BEFORE_RESET, use, name)
        require("reset" in message, f"{name} before reset(): {message!r} does not name reset()")


def before_reset_aec(make: Make) -> None:
    """Before the first reset, whatever needs a game says that reset() is missing."""
    for env in (make().env, make().env.unwrapped):
        agent = env.possible_agents[0]
        names = (*BOOKS, "agent_selection", "num_agents")
        _names_reset(env, names, last=(), observe=(agent,), step=(0,), render=(), agent_iter=())


def before_reset_parallel(make: Make) -> None:
    """Before the first reset, whatever needs a game says that reset() is missing."""
    env = make().env
    actions = dict.fromkeys(env.possible_agents, 0)
    _names_reset(env, ("agents", "num_agents"), step=(actions,), render=())


def before_reset_gymnasium(make: Make) -> None:
    """Before the first reset, whatever needs a game says that reset() is missing."""
    for env in (make().env, make().env.unwrapped):
        _names_reset(env, (), step=(0,), render=())


def wrong_steps_aec(make: Make) -> None:
    """Refused are None from a live agent, anything else from a dead one, and steps past the end."""
    driver = make()
    env = driver.env
    driver.reset(SEED)
    _refused("None from a live agent", VALUE, env.step, None)
    rng = np.random.default_rng(SEED)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        driver.act({a: choice(driver, a, seen, rng) for a, seen in driver.turn().items()})
    before = frozen(driver.turn())
    _refused("an action of an agent whose game is over", VALUE, env.step, 0)
    require(frozen(driver.turn()) == before, "a refused step has changed something")
    for _ in env.possible_agents:
        env.step(None)
    _refused("an action past the end", VALUE, env.step, 0)
    _refused("None past the end", VALUE, env.step, None)
    require(env.agents == [], "a step past the end brings agents back")


def wrong_steps_parallel(make: Make) -> None:
    """Refused are missing actions, actions of unknown agents, and steps past the end."""
    driver = make()
    env = driver.env
    driver.reset(SEED)
    first, second = env.agents
    game = {first: 0, second: 0}
    wrong: list[dict[str, int]] = [{}, {first: 0}, {second: 0}, game | {"nobody": 0}]
    for actions in wrong:
        _refused(f"step({actions})", VALUE, env.step, actions)
    played = record(driver, SEED)
    _refused("actions past the end", VALUE, env.step, game)
    _refused("no actions past the end", VALUE, env.step, {})
    driver.reset(SEED)
    require(record(driver, SEED) == played, "a refused step has changed something")


def wrong_steps_gymnasium(make: Make) -> None:
    """Refused are steps past the end."""
    driver = make()
    driver.reset(SEED)
    record(driver, SEED)
    _refused("a step past the end", REFUSALS, driver.env.unwrapped.step, 0)


def refused_seeds(make: Make) -> None:
    """Seeds that are no integer from 0 on are refused, and the game goes on as it was."""
    driver = make()
    driver.reset(SEED)
    expected = record(driver, SEED)
    driver.reset(SEED)
    for seed in (-1, 0.5, "7", [1]):
        _refused(f"seed={seed!r}", REFUSALS, driver.reset, seed)
    require(record(driver, SEED) == expected, "a refused seed has changed the game")


def illegal_actions(make: Make) -> None:
    """An action that the mask forbids is refused and changes nothing, or loses the game at once.

    An action outside the action space is refused.
    """
    driver = make()
    driver.reset(SEED)
    rng = np.random.default_rng(SEED)
    first = driver.turn()
    for agent in first:
        _outside(driver, first, agent)
    while not driver.over:
        turn = driver.turn()
        live = {agent: seen for agent, seen in turn.items() if not seen.over}
        for agent, seen in live.items():
            if seen.mask is not None and not seen.mask.all():
                _masked(driver, turn, agent, int(np.argmin(seen.mask)))
                return
        driver.act({agent: choice(driver, agent, seen, rng) for agent, seen in turn.items()})


def _outside(driver: Driver, turn: dict[str, Seen], agent: str) -> None:
    """Actions outside the action space."""
    before = frozen(driver.turn())
    space = driver.spaces(agent)[1]
    for action in (int(space.start) - 1, int(space.start + space.n), "0", 0.5):
        actions = dict.fromkeys(turn, int(space.start)) | {agent: action}
        _refused(f"action={action!r}", VALUE, driver.act, actions)
        require(frozen(driver.turn()) == before, "a refused action has changed something")


def _masked(driver: Driver, turn: dict[str, Seen], agent: str, action: int) -> None:
    """An action that the mask forbids."""
    before = frozen(driver.turn())
    start = int(driver.spaces(agent)[1].start)
    try:
        driver.act(dict.fromkeys(turn, start) | {agent: action + start})
    except ValueError:
        require(frozen(driver.turn()) == before, "a refused action has changed something")
        return
    rewards: dict[str, float] = {}
    shown = driver.turn()
    while shown:
        for one, seen in shown.items():
            require(seen.terminated, f"{one} plays on after an illegal action")
            require(not seen.truncated, "an illegal action truncates the game")
            rewards[one] = seen.reward
        if driver.over:
            break
        driver.act(dict.fromkeys(shown))
        shown = driver.turn()
    require(rewards.pop(agent) == -1, "an illegal action does not cost its agent 1")
    require(all(r == 1 for r in rewards.values()), "an illegal action gives the other no 1")
