"""Registering an agent: what is refused, and that nothing is registered then."""

from typing import Any

import pytest

import war_agents
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
