"""The table of field cases, from the tests that are marked with `field_case`.

    python -m tests.field_cases

writes ``tests/FIELD_CASES.md``.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent
TABLE: Final = TESTS / "FIELD_CASES.md"
MARKER: Final = "field_case"
# What each case is, by section.
CASES: Final[dict[str, dict[str, str]]] = {
    "api": {
        "A01": "wrapper and game disagree on the mover after an illegal action",
        "A03": "agents leave too early or too late, misuse ends in a KeyError",
        "A04": "the loser's or winner's reward is lost or handed out twice",
        "A05": "bare AttributeError before the first reset",
        "A07": "actions of who does not move are applied or dropped in silence",
        "A08": "the second of two simultaneous choosers sees the first choice",
        "A09": "copies are new games, or share the old one's memory",
        "A10": "copies and workers fall back to default options",
        "A11": "a reset with a seed drops the configuration",
        "A12": "games without an end, or a limit that is off by one",
        "A14": "what an illegal action does is unclear, and differs by view",
        "A15": "an observation shows what is hidden in some phase",
        "A17": "NumPy's bool and float where Python's are expected",
        "A19": "stock tests fail, or the environment is bent to them",
    },
    "masks": {
        "M01": "a mask without a legal action, and agents that take it",
        "M02": 'an empty mask for "not your turn" reaches a policy',
        "M03": "masked distributions fail their own checks, which are then switched off",
        "M04": "evaluation drops the mask",
        "M06": "checkers send actions that the mask forbids",
        "M08": "a mask that `space.sample` refuses",
        "M09": "a mask of the turn before, or numbers that overflow",
    },
    "seeding": {
        "S01": "chance after the first move, where the stock test has stopped looking",
        "S02": "other results in another process",
        "S04": "resets after a seeded one repeat a deal, or cannot be repeated",
        "S06": "all lanes play the same deal",
        "S07": "neighbouring seeds, or training and evaluation, share deals",
        "S09": "a restored game draws the same cards again",
        "S10": "loading a player seeds everything else",
        "S12": "deals from a global generator",
    },
    "vector": {
        "V01": "autoreset hides the end, or makes up a step",
        "V02": "the final observation is the next game's",
        "V03": "arrays that were handed out change later",
        "V05": "an id is unknown in a worker",
        "V07": "vector environments leave files, threads or processes behind, or a script hangs",
        "V08": "an error in a worker or of an opponent is hidden, hangs, or is played over",
        "Z01": "workers forked from a process with CUDA or with torch's threads fail or hang",
    },
    "training": {
        "T01": "the turn limit is taken for a real end, or the other way round",
        "T02": "a run that goes on counts from zero, or overwrites what is older",
        "T03": "schedules start anew with each piece of a run",
        "T04": "saves are counted in steps of the vector, not of games",
        "T07": "past selves are the learner itself",
        "T08": "opponents change within a game",
        "T10": "a run goes on with another number of games, or says one and uses another",
        "T12": "evaluation disturbs the games that are learned from",
        "T13": "a signal loses the run or what was learned",
        "T14": "an evaluation of games without end never returns",
        "T15": "a progress bar or TensorBoard that is not there fails late or in silence",
    },
    "saving": {
        "K01": "a crash or a full disk while saving destroys what was saved before",
        "K04": "a file of one machine or Python cannot be read on another",
        "K06": "a file from a machine with a GPU fails on one without",
        "K08": "safe loading is switched off",
        "Z03": "two processes write to one run",
    },
    "evaluation": {
        "E01": "ratings depend on the order of games or on who finishes first",
        "E04": "draws are lost or dropped in one of the numbers",
        "E05": "the better seat or the luckier deal is taken for strength",
        "E07": "the first games to finish are counted, which are the short ones",
        "E08": "a resumed tournament repeats or skips games, or is another one",
        "E09": "a player that crashes or hangs ends the tournament, or just loses",
        "E12": "copies of one game are counted as so many results",
        "E14": "winner and loser are swapped between reward, record and rating",
    },
    "rendering": {
        "R02": "a display or pygame is needed",
    },
    "packaging": {
        "P01": "a base install cannot be imported, or an import is slow",
        "P03": "files are missing from the wheel",
        "P04": "compiled code has nowhere to be cached, and the import fails",
        "P06": "ids are registered late, twice, or without a namespace",
    },
    "performance": {
        "F01": "every process starts a thread a core, and more workers are slower",
        "F02": "masks are fetched row by row, and masked training is slow",
        "F03": "a small network is put on the GPU, and is slower there",
        "F04": "memory grows with every reset, game or match",
    },
    "security": {
        "X01": "loading, or only looking at, a shared file runs what is in it",
    },
}
_HEAD: Final = """\
# Field cases and their tests

Failures that users of other packages of this kind have reported, and the tests that keep them out
of this one: those marked with `pytest.mark.field_case`. Written by `python -m tests.field_cases`,
not by hand. Paths are relative to `tests/`. Where a case is a matter of every environment,
`war_envs.testing` checks it, and `contract/test_registered*.py` runs that over every id.
"""


@cache
def marked() -> dict[str, list[str]]:
    """By case, the tests that carry its marker, as ``file::name``, in the order of their names."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("*.py")):
        for function in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                for case in _cases(function):
                    place = f"{file.relative_to(TESTS).as_posix()}::{function.name}"
                    found.setdefault(case, []).append(place)
    return found


def table() -> str:
    """What ``FIELD_CASES.md`` must be."""
    tests, lines = marked(), [_HEAD]
    for section, cases in CASES.items():
        lines += [f"## {section}\n", "| case | failure | tests |", "| --- | --- | --- |"]
        for case, failure in cases.items():
            names = " ".join(f"`{name}`" for name in tests.get(case, ()))
            lines.append(f"| {case} | {failure} | {names} |")
        lines[-1] += "\n"
    return "\n".join(lines)


def _cases(function: ast.FunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr=attribute), args=given) if attribute == MARKER:
                yield from (ast.literal_eval(argument) for argument in given)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
