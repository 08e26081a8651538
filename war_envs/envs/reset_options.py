"""The options that ``reset`` takes."""

import difflib
import warnings
from collections.abc import Sequence
from typing import Any

from war_envs.messages import shown


def known_options(options: object, known: Sequence[str]) -> dict[str, Any]:
    """Of a ``reset``'s ``options`` those that it knows; the others are ignored, with one warning.

    Args:
        options: what the caller gave: a dict, or None for none.
        known: the names of the options that there are.

    Raises:
        ValueError: it is no dict, or a name is nearly one of ``known``: surely a slip.
    """
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise ValueError(f"options={shown(options)} is not allowed; it must be a dict or None")
    unknown = [option for option in options if option not in known]
    for option in unknown:
        near = difflib.get_close_matches(option, known, 1) if isinstance(option, str) else []
        if near:
            raise ValueError(f"option {shown(option)} is unknown; did you mean {near[0]!r}?")
    if unknown:
        names = ", ".join(map(shown, unknown))
        warnings.warn(
            f"reset ignores unknown options: {names}; it takes {', '.join(known)}", stacklevel=4
        )
    return {option: value for option, value in options.items() if option in known}
