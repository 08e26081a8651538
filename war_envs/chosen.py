"""Which variants are played, as a command line or a configuration says it."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from war_envs.messages import shown
from war_envs.variant import (
    ALL,
    MODES,
    VARIANT_NAMES,
    GameOptions,
    Variant,
    make_variant,
    option_names,
)


@dataclass(frozen=True, kw_only=True)
class ChosenVariants(GameOptions):
    """One variant by its modes, or several by name; unchecked until they are `made`."""

    variants: tuple[str, ...] = ()
    """Several variants in place of one: their names, such as standard minimal+fair, or all."""
    own_card: Literal["bottom", "first"] = "bottom"
    """Attack and Defence only: where a winner's own card goes."""

    def made(self, game: str) -> tuple[Variant, ...]:
        """The variants of ``game`` that are meant, at least one.

        Raises:
            ValueError: a value that is not allowed, or one that ``game`` does not know.
        """
        known = option_names(game)
        given = {o.name: (getattr(self, o.name), o.default) for o in fields(ChosenVariants)}
        del given["variants"]
        options: dict[str, Any] = {}
        for name, (value, default) in given.items():
            if name in known:
                options[name] = value
            elif value != default:
                raise ValueError(f"{name}={shown(value)} is not allowed; {game} has no {name}")
        names = self._names()
        if not names:
            return (make_variant(game, **options),)
        rest = {name: value for name, value in options.items() if name not in MODES.values()}
        return tuple(make_variant(game, name, **rest) for name in names)

    def _names(self) -> tuple[str, ...]:
        given: object = self.variants  # whatever the caller passed
        if not isinstance(given, tuple | list) or not all(
            isinstance(name, str) and name in (*VARIANT_NAMES, ALL) for name in given
        ):
            raise ValueError(
                f"variants={shown(given)} is not allowed; choose from "
                f"{', '.join(VARIANT_NAMES)}, or all"
            )
        for mode in MODES.values():
            if given and getattr(self, mode):
                raise ValueError(
                    f"{mode}=True is not allowed with variants={shown(given)}: name it there"
                )
        return VARIANT_NAMES if ALL in given else tuple(dict.fromkeys(given))
