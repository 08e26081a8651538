"""The table of field cases names each case that must have tests, and tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
TABLE = (TESTS / "FIELD_CASES.md").read_text()
# What must be there: all of each section but rendering.
CASES = {
    "api": "A01 A03 A04 A05 A07 A08 A09 A10 A11 A12 A14 A15 A17 A19",
    "masks": "M01 M02 M03 M04 M06 M08 M09",
    "seeding": "S01 S02 S04 S06 S07 S09 S10 S12",
    "vector": "V01 V02 V03 V05 V07 V08 Z01",
    "training": "T01 T02 T03 T04 T07 T08 T10 T12 T13 T14 T15",
    "saving": "K01 K04 K06 K08 Z03",
    "evaluation": "E01 E04 E05 E07 E08 E09 E12 E14",
    "packaging": "P01 P03 P04 P06",
    "performance": "F01 F02 F03 F04",
    "security": "X01",
}
ROWS = re.findall(r"^\| ([A-Z]\d\d) \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE)


@cache
def functions(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("section", CASES)
def test_every_case_of_a_section_is_in_the_table(section: str) -> None:
    body = TABLE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| ([A-Z]\d\d) \|", body, re.MULTILINE) == CASES[section].split()


def test_no_case_is_named_twice_and_every_row_can_be_read() -> None:
    cases = [case for case, _, _ in ROWS]
    assert len(set(cases)) == len(cases)
    assert len(cases) == len(re.findall(r"^\| [A-Z]\d\d", TABLE, re.MULTILINE))


@pytest.mark.parametrize(("case", "tests"), [(case, tests) for case, _, tests in ROWS])
def test_every_test_in_the_table_exists(case: str, tests: str) -> None:
    nodes = re.findall(r"`([^`]+)`", tests)
    assert nodes, case
    assert re.sub(r"`[^`]+`", "", tests).strip() == ""
    for node in nodes:
        file, name = node.split("::")
        assert (TESTS / file).is_file(), f"{case}: {file} is not there"
        assert name in functions(file), f"{case}: {node} is not there"
        runs = name.startswith("test_") or file == "packaging/check_wheel.py"
        assert runs, f"{case}: {node} is no test"
