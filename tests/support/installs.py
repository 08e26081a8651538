"""An interpreter that lacks some packages for real: no trick with modules, their files are away."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import war_agents
import war_envs

_OURS = (Path(war_envs.__file__).parents[1], Path(war_agents.__file__).parents[1])
# war_train lies beside the others in an install, and in a folder of its own in the tree.
_TRAIN = _OURS[0] / "train"


class Install:
    """This installation without the packages ``absent`` (names as imported).

    Args:
        folder: an empty folder, which gets links to all that is installed but for these.
    """

    def __init__(self, folder: Path, absent: Iterable[str]) -> None:
        left_out = set(absent)
        for name in sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
            for entry in Path(name).iterdir():
                if entry.name.split(".")[0] not in left_out:
                    (folder / entry.name).symlink_to(entry)
        self._path = os.pathsep.join(map(str, (*_OURS, _TRAIN, folder)))

    def python(
        self, program: str, *arguments: str, cwd: Path, stderr: int = subprocess.PIPE
    ) -> "subprocess.Popen[str]":
        """Starts ``python -c program``; warnings are errors."""
        return subprocess.Popen(
            # -S: without it the real site-packages would be on the path after all.
            [sys.executable, "-S", "-W", "error", "-c", program, *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": self._path, "TERM": "xterm"},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def war(
        self, *arguments: str, cwd: Path, stderr: int = subprocess.PIPE
    ) -> "subprocess.Popen[str]":
        """Starts the command ``war``."""
        program = "from war_agents.cli import main; main()"
        return self.python(program, *arguments, cwd=cwd, stderr=stderr)
