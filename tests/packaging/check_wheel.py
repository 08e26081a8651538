"""Builds the sdist and the wheel, and uses the wheel as strangers would.

    python tests/packaging/check_wheel.py

* The wheel built from the sdist is the one built from the tree, with every file of the packages.
* In a clean environment with the base dependencies only, every module imports, the commands answer
  and each game plays: from ``/``, and beside a stray ``agents`` package and ``train.py``.
* The shipped models are shown there, and name the extra that they lack when they are to play; with
  the torch of the environment that runs this script they play.
* So it does where nothing can be written, with a cache folder of the user's choice, with the
  compiler off and from a zip file, and the players see the same.

Needs the ``dev`` extra and a package index. Prints each stage with its seconds.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "war_envs": ROOT / "war_envs",
    "war_agents": ROOT / "agents/war_agents",
    "war_train": ROOT / "train/war_train",
}
Env = dict[str, str]
NOTHING: Env = {}
CHAMPIONS = sorted(file.stem for file in (PACKAGES["war_agents"] / "models").glob("*.safetensors"))
SMOKE = Path(__file__).with_name("smoke.py").read_text()


@contextmanager
def stage(title: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    print(f"{title} ...", flush=True)
    start = time.perf_counter()
    yield
    print(f"{title}: {time.perf_counter() - start:.1f} s", flush=True)


@pytest.mark.field_case("P03")
def build(folder: Path) -> Path:
    """Build both ways, compare, and return the wheel."""
    command = [sys.executable, "-m", "build", "--no-isolation", str(ROOT), "--outdir"]
    subprocess.run([*command, str(folder / "dist")], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, str(folder), "--wheel"], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (folder / "dist").glob("*.whl")
    (from_tree,) = folder.glob("*.whl")
    contents = read_wheel(wheel)
    assert contents == read_wheel(from_tree), "the sdist's wheel is not the tree's"

    names = {name for name in contents if not name.split("/")[0].endswith(".dist-info")}
    expected = {
        f"{package}/{file.relative_to(source).as_posix()}"
        for package, source in PACKAGES.items()
        for file in source.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert names == expected, f"wheel and tree differ in {sorted(names ^ expected)}"
    assert all(f"{package}/py.typed" in names for package in PACKAGES)

    (sdist,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "Makefile", "constraints.txt", "tests/packaging/check_wheel.py"}
    assert needed <= shipped, f"the sdist lacks {sorted(needed - shipped)}"
    return wheel


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def install(wheel: Path, venv: Path) -> None:
    """Make a clean environment with the wheel and its base dependencies."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    constraints = str(ROOT / "constraints.txt")
    subprocess.run([*pip, "install", "-q", "-c", constraints, str(wheel)], check=True, cwd=venv)
    subprocess.run([*pip, "check"], check=True, cwd=venv)


class User:
    """Somebody with an install, a home and nothing in the environment that concerns Python."""

    def __init__(self, venv: Path, home: Path, *, bound: bool = False) -> None:
        """``bound``: obey file permissions, as root does only without its capabilities."""
        self.venv, self.home = venv, home
        drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]
        self.prefix = drop if bound and os.geteuid() == 0 else []

    def run(self, *command: str, cwd: Path, env: Env = NOTHING, code: int = 0) -> str:
        """Run a program of the install; what it printed, if it ended with ``code``."""
        ours = ("PYTHON", "NUMBA", "XDG", "VIRTUAL_ENV", "DISPLAY")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        home = {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.home)}
        program = [*self.prefix, str(self.venv / "bin" / command[0]), *command[1:]]
        result = subprocess.run(
            program, cwd=cwd, env=clean | home | env, capture_output=True, text=True
        )
        if result.returncode != code:
            raise SystemExit(
                f"{command[:3]} in {cwd} with {env} ended with {result.returncode}, "
                f"not {code}:\n{result.stdout}{result.stderr}"
            )
        return result.stdout + (result.stderr if code else "")

    def smoke(self, *how: str, cwd: Path, env: Env = NOTHING, source: Path | None = None) -> str:
        """The digest that smoke.py prints, after it used the package in ``source`` (the venv)."""
        printed = self.run("python", "-W", "error", "-c", SMOKE, *how, cwd=cwd, env=env)
        digest, _, place = printed.partition(" ")
        assert place.startswith(str(source or self.venv)), f"war_envs came from {place}"
        return digest


@pytest.mark.field_case("P01", "P04")
def main() -> None:
    """Run all checks."""
    with tempfile.TemporaryDirectory(prefix="war-envs-") as name:
        folder, top = Path(name), Path("/")
        venv, home, cache = folder / "venv", folder / "home", folder / "cache"
        home.mkdir()
        stray = folder / "stray"
        (stray / "agents").mkdir(parents=True)
        for file in ("agents/__init__.py", "train.py"):
            (stray / file).write_text("raise RuntimeError('a file of the user was imported')\n")

        with stage("build the sdist and the wheel"):
            wheel = build(folder)
        with stage("install the wheel into a clean environment"):
            install(wheel, venv)

        user = User(venv, home)
        with stage("use it from / and beside a stray agents/ and train.py"):
            digest = user.smoke(cwd=top)
            assert user.smoke(cwd=stray) == digest
            brief = user.smoke("brief", cwd=top)  # for where all is compiled anew
            for cwd in (top, stray):
                assert "tournament" in user.run("war", "--help", cwd=cwd)
                assert "war_envs/AttackDefence-Minimal-v0" in user.run("war", "envs", cwd=cwd)
            table = ("tournament", "--game", "attack-defence", "--agents", "random", "memory")
            user.run("war", *table, "--deals", "2", "--out", str(home / "report"), cwd=top)
            assert (home / "report/results.json").is_file()
            train = ("train", "--game", "attack-defence", "--steps", "1", "--out", "run")
            hint = user.run("war", *train, cwd=home, code=1)
            assert "war-envs[train]" in hint, hint
            assert "Traceback" not in hint, hint

        with stage("use the shipped models, without torch and with it"):
            for game in CHAMPIONS:
                card = user.run("war", "models", "show", "champion", "--game", game, cwd=home)
                assert str(venv) in card.splitlines()[0], card
                play = ["tournament", "--game", game, "--agents", "champion", "random"]
                play += ["--deals", "2"]
                hint = user.run("war", *play, cwd=home, code=1)
                assert hint.count("\n") == 1, hint
                assert 'pip install "war-envs[train]"' in hint, hint
                play_with_torch(venv, game)

        with stage("use it where nothing can be written"), read_only(venv, home):
            bound = User(venv, home, bound=True)
            for place in (home, package_folder(venv)):
                write = f"open({str(place / 'x')!r}, 'w')"
                bound.run("python", "-c", write, cwd=top, code=1)  # or the next line proves nothing
            assert bound.smoke("brief", cwd=top) == brief
            assert bound.smoke("brief", cwd=top, env={"NUMBA_CACHE_DIR": str(cache)}) == brief
            assert any(cache.rglob("*.nbc")), "NUMBA_CACHE_DIR was not used"
            assert bound.smoke(cwd=top, env={"NUMBA_DISABLE_JIT": "1"}) == digest

        with stage("use it from a zip file"):
            zipped = {"PYTHONPATH": str(wheel)}
            assert user.smoke("brief", cwd=top, env=zipped, source=wheel) == brief


def play_with_torch(venv: Path, game: str) -> None:
    """The installed champion plays, with the torch that this script's environment has."""
    program = (
        "import war_agents.arena as arena\n"
        f"assert arena.__file__.startswith({str(venv)!r}), arena.__file__\n"
        f"match = arena.play_match('champion', 'random', game={game!r}, deals=20, seed=1)\n"
        "assert match.low > 0.5, match.interval\n"
    )
    path = {"PYTHONPATH": str(package_folder(venv).parent)}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=venv, env=os.environ | path)


def package_folder(venv: Path) -> Path:
    """Where ``war_envs`` is installed."""
    (folder,) = venv.glob("lib/python*/site-packages/war_envs")
    return folder


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """No folder below these can be written to."""
    below = [Path(place) for folder in folders for place, _, _ in os.walk(folder)]
    for place in below:
        place.chmod(0o555)
    try:
        yield
    finally:
        for place in below:
            place.chmod(0o755)


if __name__ == "__main__":
    main()
