"""Registering an agent: what is refused, and that nothing is registered then."""

from typing import Any

import pytest

import war_agents
from war_agents import registry
from war_agents.registry import RESERVED


@pytest.mark.parametrize("name", ["", *RESERVED, "a/b", "x.safetensors", "two\nlines", "random"])
def test_names_that_cannot_be(name: str) -> None:
    before = war_agents.names("attack-defence")
    with pytest.raises(ValueError, match=r"^name="):
        war_agents.register(name, lambda _variant: war_agents.make("random", game="attack-defence"))
    assert war_agents.names("attack-defence") == before


@pytest.mark.parametrize(
    "arguments", [{"factory": 5}, {"games": "attack-defence"}, {"games": ("chess",)}]
)
def test_arguments_that_cannot_be(arguments: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"name": "newcomer", "factory": lambda _: None} | arguments
    before = war_agents.names("attack-defence")
    with pytest.raises(ValueError, match=f"^{next(iter(arguments))}"):
        war_agents.register(**whole)
    assert war_agents.names("attack-defence") == before


@pytest.mark.parametrize(
    ("made", "words"),
    [(None, "None has no name and no encoding"), (int, "is the class int; give an agent")],
)
def test_a_factory_that_makes_no_agent_is_named(
    made: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._FACTORIES["attack-defence"], "newcomer", lambda _: made)
    with pytest.raises(ValueError, match=f"^agent='newcomer' .*{words}") as refused:
        war_agents.make("newcomer", game="attack-defence")
    assert "\n" not in str(refused.value)
