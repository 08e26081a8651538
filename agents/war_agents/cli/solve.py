"""``war solve``."""

import time
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from war_agents.cli.bars import bars
from war_agents.files import json_text
from war_envs.chosen import ChosenVariants
from war_envs.games import SPECS


def run(
    *,
    game: Literal["attack-defence", "strategic-war"],
    variant: Annotated[ChosenVariants, tyro.conf.OmitArgPrefixes] = ChosenVariants(),  # noqa: B008
    json: bool = False,
) -> None:
    """Finds the exact value of a small deck of War of Attack and Defence.

    Args:
        game: What is played.
        variant: Which rules. Of several variants each is solved.
        json: One line of JSON per variant, instead of a text.
    """
    # Here, so that no other command has to load it.
    from war_agents.solve import solve

    for chosen in variant.made(game):
        begun = time.perf_counter()
        with bars() as bar:
            tell = {what: bar(what) for what in ("states", "turns")}

            def progress(what: str, done: int, of: int | None, tell: Any = tell) -> None:
                if tell[what] is not None:
                    tell[what](done, of)

            solution = solve(game, chosen, progress=progress)
        deals = solution.deals
        row: dict[str, Any] = {
            "game": game,
            "variant": chosen.name,
            **{name: chosen.options[name] for name in ("num_ranks", "max_turns")},
            "value": solution.value,
            "deals": len(deals) if chosen.open_cards else None,
            "decided": float((np.abs(deals) == 1.0).mean()) if chosen.open_cards else None,
            "drawn": float((deals == 0.0).mean()) if chosen.open_cards else None,
            "mean_absolute_value": float(np.abs(deals).mean()) if chosen.open_cards else None,
            "open_states": solution.open_states,
            "hidden_states": solution.hidden_states,
            "seconds": round(time.perf_counter() - begun, 3),
        }
        print(json_text(row) if json else "\n".join(_lines(row)))


def _lines(row: dict[str, Any]) -> list[str]:
    """What is found, for people."""
    rules = f"{row['variant']}, {row['num_ranks']} ranks, at most {row['max_turns']} turns"
    lines = [
        f"{SPECS[row['game']].title}, {rules}: solved in {row['seconds']:.1f} s",
        f"  value   {round(row['value'], 6) + 0.0:.6f} for player_0, before the deal",  # no -0
    ]
    if row["deals"] is not None:
        decided, drawn = (f"{100 * row[what]:.1f} % {what}" for what in ("decided", "drawn"))
        shares = f"{decided}, {drawn}, the others in between"
        mean = f"mean absolute value {row['mean_absolute_value']:.4f}"
        lines.append(f"  deals   {row['deals']:,}: {shares}; {mean}")
    known = f"{row['open_states']:,} with all cards known to both"
    lines.append(f"  states  {known}, {row['hidden_states']:,} others")
    return lines
