"""Benchmarks: what ``war bench`` measures.

Each section is a module with a function ``run(seconds)`` that yields one `Measurement` after the
other; about ``seconds`` are timed for each, so that tests can be short.
"""

import importlib
from collections.abc import Iterator
from typing import Any, Final, Literal, get_args

from war_agents.bench.measure import Measurement

Section = Literal["batch", "aec", "vec", "train", "tournament"]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)

__all__ = ["SECTIONS", "Measurement", "Section", "run"]


def run(section: Section, **options: Any) -> Iterator[Measurement]:
    """The measurements of one section; ``options`` are those of its own ``run``.

    Raises:
        ImportError: the section needs an extra that is not installed; it is named.
    """
    package = "war_train" if section == "train" else "war_agents"
    module = importlib.import_module(f"{package}.bench.{section}")
    measurements: Iterator[Measurement] = module.run(**options)
    return measurements
