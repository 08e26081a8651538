"""The ``war`` command: ``war train``, ``tournament``, ``models``, ``export``, ``bench``, ``envs``.

Exit codes: 0; 1 with one line on standard error for anything that is wrong with what was asked for;
2 for a wrong command line; 3 after a tournament with an agent that lost every game by failing; 130
after Ctrl-C and 143 after SIGTERM.
"""

import contextlib
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from war_agents import interrupts, terminal
from war_agents.arena.folder import HTML_FILE, RESULTS_FILE
from war_agents.arena.players import is_code
from war_agents.arena.report import print_report
from war_agents.arena.tournament import Tournament
from war_agents.bench import Section
from war_agents.models.model_card import read_card
from war_agents.models.show import score_lines, show_model
from war_agents.module_path import add_user_folder
from war_envs.messages import printable
from war_envs.registration import GYMNASIUM_IDS, PETTINGZOO_IDS
from war_envs.variant import ALL, VARIANT_NAMES, make_variant

_DESCRIPTION: Final = """\
War of Attack and Defence and Strategic War: trains agents and compares them.
"war COMMAND --help" explains a command, "war --version" prints the version."""
_ALL_FAILED: Final = 3
_TYRO: Final = (tyro.conf.FlagCreatePairsOff,)


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
        _fail(str(error) or "interrupted", getattr(error, "exit_code", 130))
    except BrokenPipeError:  # the reader has seen enough, as in `war envs | head`
        sys.exit(1)
    except ImportError as error:
        if "war-envs[" not in str(error):  # no extra would help
            raise
        _fail(str(error))
    except (ValueError, OSError) as error:
        _fail(str(error))
    finally:
        interrupts.finish()
        terminal.finish()


def _fail(message: str, code: int = 1) -> NoReturn:
    print("war:", printable(" ".join(message.split())), file=sys.stderr)
    sys.exit(code)


def _run(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print("war-envs", importlib.metadata.version("war-envs"))
    elif arguments[:1] == ["train"]:
        _train(arguments[1:])
    else:
        tyro.extras.subcommand_cli_from_dict(
            {
                "train": _explain_train,
                "tournament": _tournament,
                "models": _models,
                "export": _export,
                "bench": _bench,
                "envs": _envs,
            },
            prog="war",
            description=_DESCRIPTION,
            args=arguments,
            config=_TYRO,
        )


def _explain_train() -> None:
    """Trains an agent by self-play."""
    # Only its help is used: the real arguments are war_train's, which other commands do without.


def _train(arguments: list[str]) -> None:
    if any(argument.split("=")[0] == "--resume" for argument in arguments):
        tyro.cli(_resume, prog="war train", args=arguments, config=_TYRO)
        return
    checked: Any = importlib.import_module("war_train.config").TrainConfig
    # Parsed without its checks, so that their errors are told like all others, not in tyro's box.
    unchecked = type(
        checked.__name__,
        (checked,),
        {"__post_init__": lambda self: None, "__doc__": checked.__doc__},
    )
    parsed: Any = tyro.cli(unchecked, prog="war train", args=arguments, config=_TYRO)
    config = checked(**vars(parsed))
    train = importlib.import_module("war_train.ppo").train
    _finish_run(lambda: train(config))


def _resume(*, resume: Path, progress: bool = True) -> None:
    """Goes on with a run that ended early, with the settings that it was started with.

    Args:
        resume: The run's folder.
        progress: Shows a progress bar, if standard error is a terminal.
    """
    go_on = importlib.import_module("war_train.ppo").resume
    _finish_run(lambda: go_on(resume, progress=progress))


def _finish_run(run: Callable[[], Path]) -> None:
    """Trains, and prints what the finished run has come to.

    From here on signals are only noted: the run ends at the first one by itself, and those that
    come after it, while things are saved and told, change nothing.
    """
    importlib.import_module("war_train.run.stopping").StopRequest().catch()
    file = run()
    for line in score_lines(read_card(file)):
        print(printable(line))
    print(f"The model is in {file}")


def _tournament(
    *,
    agents: tuple[str, ...],
    game: Literal["attack-defence", "strategic-war"],
    minimal: bool = False,
    fair: bool = False,
    open_cards: bool = False,
    variants: tuple[str, ...] = (),
    num_ranks: int = 13,
    max_turns: int | None = None,
    own_card: Literal["bottom", "first"] | None = None,
    deals: int = 1000,
    seed: int = 0,
    until_separated: float | None = None,
    deterministic: bool = False,
    time_limit: float = 10.0,
    strict: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    out: Path | None = None,
    resume: bool = False,
) -> None:
    """Plays every agent against every other, each deal from both seats.

    Games in which an agent of yours fails are lost to it; the exit code is 3 where an agent failed
    in every game.

    Args:
        agents: At least two: names such as random and memory, run folders, model files, or
            module:factory for your own code.
        game: What is played.
        minimal: Two suits instead of four.
        fair: Both players hold the same ranks in the same order.
        open_cards: All cards lie face up.
        variants: Several variants, such as standard minimal+fair, or all; each is reported, and
            their mean.
        num_ranks: Ranks in the deck, odd, 3 to 13.
        max_turns: Turns after which a game is cut off, a draw; by default 40 a card of the deck.
        own_card: Attack and Defence only: where a winner's own card goes; by default bottom.
        deals: Deals a pair. Each is played twice, in Strategic War four times (both first
            attackers). With --until-separated, the most there may be.
        seed: The same seed gives the same deals, and all draws of the agents.
        until_separated: Play on until the order of all agents by their mean scores is decided, at
            this family-wise confidence, such as 0.95.
        deterministic: Trained agents take their likeliest actions; by default they sample.
        time_limit: Seconds that an agent of yours may take for a choice; a game in which it takes
            longer is lost.
        strict: End with an error at the first game that an agent loses by failing.
        workers: Processes that play; by default one a core. 0 plays in this one.
        ray: Address of a Ray cluster to play on, such as auto (needs the extra "ray").
        out: Folder for the games, results.json, report.md and report.html; without it there is only
            the table.
        resume: Go on with the tournament in the folder of --out, which must have the same settings.
    """
    modes: dict[str, Any] = {"minimal": minimal, "fair": fair, "open_cards": open_cards}
    options: dict[str, Any] = {"num_ranks": num_ranks, "max_turns": max_turns}
    if own_card is not None:
        options["own_card"] = own_card
    for mode, chosen in modes.items():
        if variants and chosen:
            raise ValueError(f"{mode}=True is not allowed with variants; name it there")
    if resume and out is None:
        raise ValueError("resume=True is not allowed without out, the folder to go on with")
    if variants == (ALL,):
        variants = VARIANT_NAMES
    if any(map(is_code, agents)):
        add_user_folder(os.getcwd())
    tournament = Tournament(
        agents,
        game=game,
        variants=(
            [make_variant(game, name, **options) for name in variants]
            or make_variant(game, **modes, **options)
        ),
        deals=deals,
        seed=seed,
        until_separated=until_separated,
        deterministic=deterministic,
        time_limit=time_limit,
        strict=strict,
        workers=workers,
        ray=ray,
    )
    try:
        with _progress() as bar:
            progress, rated = bar("games"), bar("ratings")
            result = tournament.run(out, resume=resume, progress=progress, rated=rated)
    except KeyboardInterrupt as error:
        error.args = (
            ("interrupted",)
            if out is None
            else (f"interrupted; the same command with --resume goes on in {out}",)
        )
        raise
    print_report(result)
    if out is not None:
        print(f"The report is in {out / HTML_FILE}, the numbers are in {out / RESULTS_FILE}")
    if result.failed:
        sys.stdout.flush()
        broken = ", ".join(map(repr, result.failed))
        _fail(f"failed in every game: {broken}; see the forfeits above", _ALL_FAILED)


_Show = Callable[[int, int], None]


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], _Show | None]]:
    """Bars on standard error, each from its first news on, if that is a terminal."""
    if not sys.stderr.isatty():  # whatever FORCE_COLOR says
        yield lambda what: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def bar(what: str) -> _Show:
            task = bars.add_task(what, total=None, visible=False)

            def show(done: int, total: int) -> None:
                bars.update(task, completed=done, total=total, visible=True)

            return show

        yield bar


def _models(
    what: tyro.conf.Positional[Literal["show"]],
    model: tyro.conf.Positional[str],
    *,
    game: Literal["attack-defence", "strategic-war"] | None = None,
    json: bool = False,
) -> None:
    """Shows what a model is, how it was trained and what it scored, from its card.

    Args:
        what: Always show.
        model: A run folder, a model file, or champion.
        game: What the model plays; only champion, a name in both games, needs it.
        json: The card as it is, as JSON, instead of a text.
    """
    show_model(model, game=game, as_json=json)


def _export(
    model: tyro.conf.Positional[str],
    *,
    to: Literal["sb3", "torchscript", "onnx"],
    out: Path,
    game: Literal["attack-defence", "strategic-war"] | None = None,
    variant: str | None = None,
) -> None:
    """Writes a trained policy as a file for other tools, and checks it against the original.

    Args:
        model: A run folder, a model file, or champion.
        to: A zip that sb3_contrib.MaskablePPO.load reads where war-envs is installed; a TorchScript
            module; or an ONNX graph (which needs the extra "onnx").
        out: The file; it must not exist.
        game: What the model plays; only champion, a name in both games, needs it.
        variant: Which of the variants that the model was trained for the file is for; by default
            the only one.
    """
    exports = importlib.import_module("war_train.export")
    exports.export(model, to=to, out=out, game=game, variant=variant)
    print(f"Checked against the model; the file is {out}. This program uses it:\n")
    print(exports.usage(model, to=to, out=out, game=game, variant=variant), end="")


def _bench(what: tyro.conf.Positional[Section], *, json: bool = False) -> None:
    """Measures how fast something is, in less than a minute.

    Args:
        what: The batch engine, the PettingZoo environments, vector environments, training (which
            needs the extra "train"), or tournaments.
        json: A line of JSON a measurement, as soon as it is there, instead of a table.
    """
    # Here, so that no other command has to load it.
    from war_agents.bench import report, run

    measurements = run(what)
    if json:
        report.print_lines(measurements)
    else:
        report.print_table(measurements)


def _envs() -> None:
    """Lists every registered id, and what makes it."""
    rows = [(id_, "gymnasium") for id_ in GYMNASIUM_IDS]
    rows += [(id_, f"pettingzoo {kind}") for kind, ids in PETTINGZOO_IDS.items() for id_ in ids]
    width = max(len(id_) for id_, _ in rows)
    for id_, maker in rows:
        print(f"{id_:{width}}  {maker}")
