"""Where modules are looked for: those of Python, those that this package needs, the user's own."""

import os
import sys
from typing import Final

_STANDARD: Final = os.path.dirname(os.__file__)
_AT_IMPORT: Final = tuple(sys.path)  # where all that this package needs was found


def add_user_folder(folder: str) -> None:
    """Makes a folder's modules known, after Python's own and before what is installed.

    So an agent in ``random.py`` does not take the place of Python's ``random``.
    """
    standard = [i for i, entry in enumerate(sys.path) if _is_standard(entry)]
    sys.path.insert(standard[-1] + 1 if standard else len(sys.path), folder)


def own_path() -> list[str]:
    """Where another process finds what this package needs, whatever lies in the user's folders."""
    path = [str(entry) or os.getcwd() for entry in _AT_IMPORT]
    return sorted(path, key=lambda entry: not _is_standard(entry))


def _is_standard(entry: str) -> bool:
    parent, name = os.path.split(entry)
    return entry == _STANDARD or (parent == _STANDARD and name == "lib-dynload")
