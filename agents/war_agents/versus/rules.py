"""The rules among the keyword arguments of the Gymnasium views."""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from war_envs.messages import shown
from war_envs.variant import Variant, make_variant, option_names


class UnknownOptionError(ValueError, TypeError):
    """A keyword argument that there is not: a TypeError too, as it is for any function."""


def variant_of(view: type[Any], game: str, options: Mapping[str, Any]) -> Variant:
    """The variant of ``game`` that ``options`` say; ``own_card=None`` says nothing.

    Args:
        view: whose further arguments ``options`` are.
        game: its name.
        options: fields of the game's variants.

    Raises:
        ValueError: an unknown game, or a value that is not allowed.
        UnknownOptionError: neither the view nor the game has such an argument.
    """
    rules = option_names(game)
    given = {
        name: value for name, value in options.items() if name != "own_card" or value is not None
    }
    for option in given:
        if option not in rules:
            parameters = signature(view).parameters.values()
            own = [p.name for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
            raise UnknownOptionError(
                f"option {shown(option)} is unknown to {game}; there are "
                f"{', '.join([*own, *rules])}"
            )
    return make_variant(game, **given)
