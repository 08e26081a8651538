"""Which command is run, and how it ends."""

import importlib.metadata
import os
import sys
from typing import Final

import tyro

from war_agents import interrupts, terminal
from war_agents.cli import bench, envs, export, models, solve, tournament, train
from war_agents.cli.ending import fail

_DESCRIPTION: Final = """\
War of Attack and Defence and Strategic War: trains agents and compares them.
"war COMMAND --help" explains a command, "war --version" prints the version."""


def main() -> None:
    """Runs the command that `sys.argv` holds, as the last that this process does."""
    interrupts.prepare()
    terminal.prepare()
    # More threads get in the way of small networks and of neighbours; a user's own choice stands.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        try:
            _run(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt as error:
        fail(str(error) or "interrupted", getattr(error, "exit_code", 130))
    except BrokenPipeError:  # the reader has seen enough, as in `war envs | head`
        sys.exit(1)
    except ImportError as error:
        if "war-envs[" not in str(error):  # no extra would help
            raise
        fail(str(error))
    except (ValueError, OSError) as error:
        fail(str(error))
    finally:
        interrupts.finish()
        terminal.finish()


def _run(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print("war-envs", importlib.metadata.version("war-envs"))
    elif arguments[:1] == ["train"]:
        train.run(arguments[1:])
    else:
        tyro.extras.subcommand_cli_from_dict(
            {
                "train": train.explain,
                "tournament": tournament.run,
                "solve": solve.run,
                "models": models.run,
                "export": export.run,
                "bench": bench.run,
                "envs": envs.run,
            },
            prog="war",
            description=_DESCRIPTION,
            args=arguments,
            config=(tyro.conf.FlagCreatePairsOff,),
        )
