"""Who an agent is: the same in every process, another where it plays otherwise, or not known."""

import collections
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.bad_agents import Healthy, OnlyHere
from war_agents.arena import Tournament
from war_agents.arena.identity import UnidentifiedError, identity

SCRIPT = """
import collections, dataclasses, enum, functools, pathlib, random, sys
import numpy as np
import torch
from war_agents.arena import Tournament
from war_agents.networks.policy import load_policy
from war_agents.models.shipped import champion_file
from war_envs.variant import make_variant

FIRST = 0
VARIANT = make_variant("attack-defence", "minimal")

def choose(mask):
    return mask.argmax(axis=1) + FIRST

class Suit(enum.Enum):
    HEARTS = "H"
    SPADES = "S"

class Agent:
    encoding, memory = "tokens", "perfect"
    liked = {"attack", "defend", "hold", "wait"}

    def __init__(self, name, **attributes):
        self.name = name
        vars(self).update(attributes)

    def act(self, observation, action_mask, seeds, state=None, starts=None):
        return choose(action_mask), None

class Remembers(Agent):
    def act(self, observation, action_mask, seeds, state=None, starts=None):
        self.cache[observation.tobytes()] = len(self.cache)
        return super().act(observation, action_mask, seeds)

    @functools.cached_property
    def table(self):
        return {}

@dataclasses.dataclass
class Data:
    name: str = "data"
    encoding: str = "tokens"
    memory: str = "perfect"
    weights: list = dataclasses.field(default_factory=lambda: [1.5, float("inf")])
    act = Agent.act

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.rest = torch.nn.LSTM(3, 4), torch.nn.Linear(4, 2)
        self.name, self.encoding, self.memory = "network", "tokens", "table"

    act = Agent.act

def made_here():
    class Local(Agent):
        pass
    return Local("local", cell=lambda: made_here)

agents = [
    Agent("sets", s={"a", "b", ("c", frozenset("defg"))}, suits={Suit.HEARTS, Suit.SPADES}),
    Agent("dicts", d=dict.fromkeys({"a", "b", "c", "d"}), o=collections.OrderedDict(x=1)),
    Agent("arrays", a=np.arange(6.0).reshape(2, 3).T, o=np.array([{"x"}, None], object)),
    Agent("functions", f=lambda x: x in {"a", "b", "c"}, g=functools.partial(choose), h=np.tanh),
    Agent("streams", r=random.Random(3), g=np.random.default_rng(3), p=pathlib.Path("x")),
    Agent("circle", me=[]),
    Remembers("remembers", cache={}),
    Data(),
    Network(),
    made_here(),
    load_policy(champion_file("attack-defence"), VARIANT, name="policy"),
]
agents[5].me.append(agents[5])

def progress(done, total):
    if done >= 10 and len(sys.argv) > 2:
        raise SystemExit("stopped")

tournament = Tournament(
    [*agents, "random"], game="attack-defence", variants=VARIANT, deals=1, seed=1, workers=0
)
print(*(player.sha256 for player in tournament.players), tournament.warnings)
if len(sys.argv) > 1:
    tournament.run(sys.argv[1], resume=True, progress=progress)
"""


def run(script: Path | str, hash_seed: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a script from a file, or from standard input."""
    return subprocess.run(
        [sys.executable, str(script) if isinstance(script, Path) else "-", *map(str, arguments)],
        input=None if isinstance(script, Path) else script,
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        timeout=120,
    )


CHANGES = {
    0: ('s={"a", "b", (', 's={"a", ('),
    3: ('lambda x: x in {"a", "b", "c"}', 'lambda x: x in {"a", "b"}'),
    4: ("default_rng(3)", "default_rng(4)"),
    6: ("len(self.cache)\n", "1 + len(self.cache)\n"),
    7: ("[1.5, ", "[2.5, "),
    8: ("manual_seed(1)", "manual_seed(2)"),
    9: ("pass", "def act(self, *given):\n            return choose(given[1])"),
    10: ("VARIANT, name=", 'VARIANT, name="other" or '),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a tournament of `SCRIPT` that was stopped, and what the script printed."""
    folder = tmp_path_factory.mktemp("stopped")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    done = run(script, 1, folder / "out", "stop")
    assert done.stderr == "stopped\n"
    return folder / "out", done.stdout


@pytest.mark.process
@pytest.mark.slow
def test_agents_of_a_script_are_known_again_in_another_process(
    tmp_path: Path, stopped: tuple[Path, str]
) -> None:
    out, printed = stopped
    *hashes, last, warnings = printed.split()
    assert [len(each) for each in hashes] == [64] * 11
    assert (last, warnings) == ("None", "()")
    assert len(set(hashes)) == 11
    assert 0 < len((out / "games.jsonl").read_text().splitlines()) < 132
    moved = tmp_path / "again.py"
    moved.write_text(f"# another line\n{SCRIPT}print('and more')\n")
    done = run(moved, 2, out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{printed}and more\n"


@pytest.mark.process
@pytest.mark.slow
def test_an_agent_that_plays_otherwise_is_another(stopped: tuple[Path, str]) -> None:
    """And no agent beside it. The script comes from standard input, and so has no source file."""
    changed = SCRIPT
    for who, (old, new) in CHANGES.items():
        assert changed.count(old) == 1, who
        changed = changed.replace(old, new)
    pairs = list(zip(stopped[1].split(), run(changed, 3).stdout.split(), strict=True))
    assert {i for i, pair in enumerate(pairs) if pair[0] != pair[1]} == CHANGES.keys()
    done = run(SCRIPT.replace("FIRST = 0", "FIRST = 0.0"), 3, stopped[0])
    assert done.returncode == 1
    assert "players[0].sha256 is " in done.stderr.splitlines()[-1]


class Own(Healthy):
    """Any attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.name = "own"
        vars(self).update(attributes)


def tournament(agent: Any) -> Tournament:
    return Tournament([agent, "random"], game="attack-defence", deals=1, seed=1, workers=0)


def sha256(**attributes: Any) -> str:
    found = tournament(Own(**attributes)).players[0].sha256
    assert found is not None
    return found


@pytest.mark.parametrize(
    "pair",
    [
        (0, 0.0),
        (0.0, -0.0),
        (1, True),
        ("1", 1),
        (b"a", "a"),
        ([1, 2], (1, 2)),
        ([1, 2], [2, 1]),
        ([[1], 2], [[1, 2]]),
        ({1, 2}, {1, 3}),
        ({"a": 1}, {"a": 2}),
        (np.zeros(2, np.int32), np.zeros(2, np.float32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.array([1, 2]), np.array([1, 3])),
        (np.float32(1), np.float64(1)),
        (collections.deque([1]), collections.deque([1], 5)),
        (len, abs),
        (np.sin, np.cos),
        (lambda: 1, lambda: 2),
        (lambda x: x + 1, lambda x: x - 1),
        (lambda x=1: x, lambda x=2: x),
        (Healthy, OnlyHere),
    ],
)
def test_attributes_that_differ_make_another_agent(pair: tuple[Any, Any]) -> None:
    assert sha256(part=pair[0]) != sha256(part=pair[1])


def closure(value: Any) -> Any:
    return lambda: value


def test_what_a_function_has_closed_over_counts() -> None:
    assert sha256(part=closure([1])) == sha256(part=closure([1]))
    assert sha256(part=closure([1])) != sha256(part=closure([2]))


def test_the_layout_of_arrays_and_the_order_of_dicts_do_not_count() -> None:
    array = np.arange(12.0).reshape(3, 4)
    assert sha256(part=array) == sha256(part=np.asfortranarray(array))
    assert sha256(part={1: 2, 3: 4}) == sha256(part={3: 4, 1: 2})


class Filling(Own):
    """Keeps all that it sees."""

    def act(self, observation: Any, *rest: Any) -> Any:
        vars(self).setdefault("seen", []).append(observation)
        return super().act(observation, *rest)


def test_what_fills_while_it_plays_does_not_count() -> None:
    agent = Filling()
    made = tournament(agent)
    before = made.players
    assert made.run().players == before == tournament(Filling()).players
    assert "seen" in vars(agent)


def deep() -> Any:
    value: Any = None
    for _ in range(100_000):
        value = [value]
    return value


class Closed:
    """Cannot be taken apart."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("closed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "what"),
    [
        (threading.Lock(), "a _thread.lock"),
        ((each for each in "ab"), "a builtins.generator"),
        ([{"x": {threading.Lock(): 1}}], "a _thread.lock"),
        (Closed(), "a tests.agents.test_arena_identity.Closed"),
        (deep(), "a structure that is nested too deeply"),
    ],
    ids=["lock", "generator", "within", "closed", "deep"],
)
def test_what_cannot_be_told_apart_has_no_sha256_and_a_warning_says_so(
    tmp_path: Path, part: Any, what: str
) -> None:
    result = tournament(Own(part=part)).run(tmp_path)
    assert result.players[0].sha256 is None
    (warning,) = result.warnings
    assert warning.startswith(f"agent 'own' has no SHA-256, since it has {what}: ")
    assert "\n" not in warning
    assert warning in (tmp_path / "results.json").read_text()
    again = tournament(Own(part=part)).run(tmp_path, resume=True)
    assert again.to_json() == result.to_json()


def test_identity_names_what_it_cannot_tell_apart() -> None:
    with pytest.raises(UnidentifiedError, match=r"^_thread\.lock$"):
        identity({"a": [threading.Lock()]})
