"""Each case that users of other packages have met has tests, and the table names them."""

from itertools import chain

import pytest

from tests.field_cases import CASES, TABLE, TESTS, marked, table

KNOWN = list(chain.from_iterable(CASES.values()))


def test_the_table_is_what_the_markers_say() -> None:
    assert TABLE.read_text(encoding="utf-8") == table(), "python -m tests.field_cases writes it"


def test_no_case_is_known_twice_and_no_marker_names_another() -> None:
    assert len(set(KNOWN)) == len(KNOWN)
    assert set(marked()) <= set(KNOWN)


@pytest.mark.parametrize("case", KNOWN)
def test_every_case_has_tests_that_run(case: str) -> None:
    places = marked()[case]
    assert len(set(places)) == len(places)
    for place in places:
        file, name = place.split("::")
        assert file == "packaging/check_wheel.py" or (
            (TESTS / file).name.startswith("test_") and name.startswith("test_")
        )
