"""What an agent answers is checked by one rule, and an agent says itself whether it is trained."""

from typing import Any

import numpy as np
import pytest

from tests.support.bad_agents import Healthy
from war_agents import make
from war_agents.agent import is_trained
from war_agents.answers import checked_answer

LEGAL = np.array([[1, 0], [1, 1]], np.int8)


class Trap:
    """What NumPy asks for its entries fails in two lines."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyError("one\ntwo")


@pytest.mark.parametrize("actions", [np.array([0, 1]), [0, 1], np.array([0, 1], np.uint8)])
def test_legal_actions_are_taken_as_int64(actions: Any) -> None:
    found, state = checked_answer((actions, "state"), LEGAL)
    assert found.dtype == np.int64
    assert found.tolist() == [0, 1]
    assert state == "state"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "returned None; it must be"),
        ((np.array([0, 1]),), "it must be .actions, state."),
        ((np.array([0.0, 1.0]), None), "dtype float64"),
        ((np.array([True, True]), None), "dtype bool"),
        ((np.array([0]), None), r"shape \(1,\)"),
        ((np.array([0, 2]), None), "chose the illegal action 2; legal were 0, 1"),
        ((np.array([-1, 0]), None), "chose the illegal action -1; legal were 0"),
        ((np.array([1, 1]), None), "chose the illegal action 1; legal were 0"),
        ((Trap(), None), "failed: KeyError"),
        (([[0], [0, 1]], None), "failed: ValueError"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_answer_is_refused_in_one_line(answer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        checked_answer(answer, LEGAL)
    assert "\n" not in str(refused.value)


def test_an_agent_that_does_not_say_that_it_is_trained_is_not() -> None:
    own: Any = Healthy()
    own.deterministic = False
    assert not is_trained(own)
    own.kind = "trained"
    assert is_trained(own)
    assert not is_trained(make("memory", game="attack-defence"))
