"""``war train``: its arguments are those of `war_train`, which other commands do without."""

import importlib


def explain() -> None:
    """Trains an agent by self-play."""
    # For the list of commands only.


def run(arguments: list[str]) -> None:
    """Trains, as ``arguments`` say."""
    importlib.import_module("war_train.command").run(arguments)
