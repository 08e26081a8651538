"""Checks that the settings of all parts of a run share."""

from numbers import Real

from war_envs.variant import integer

Bounds = tuple[tuple[str, float, float], ...]


def number(name: str, value: object, low: float, high: float) -> float:
    """``value`` as a float from ``low`` to ``high``.

    Raises:
        ValueError: it is none.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)  # NumPy's too
    if not is_number or not low <= float(value) <= high:  # type: ignore[arg-type]
        raise ValueError(
            f"{name}={value!r} is not allowed; it must be a number, {low:g} to {high:g}"
        )
    return float(value)  # type: ignore[arg-type]


def check_bounds(settings: object, integers: Bounds, numbers: Bounds = ()) -> None:
    """Puts fields of a frozen dataclass in place as ints and floats within bounds.

    Raises:
        ValueError: one lies outside, or is no number.
    """
    for name, low, high in integers:
        checked: float = integer(name, getattr(settings, name), int(low), int(high))
        object.__setattr__(settings, name, checked)
    for name, low, high in numbers:
        checked = number(name, getattr(settings, name), low, high)
        object.__setattr__(settings, name, checked)
