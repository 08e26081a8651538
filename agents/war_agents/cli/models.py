"""``war models``."""

from typing import Literal

import tyro

from war_agents.models.show import show_model


def run(
    what: tyro.conf.Positional[Literal["show"]],
    model: tyro.conf.Positional[str],
    *,
    game: Literal["attack-defence", "strategic-war"] | None = None,
    json: bool = False,
) -> None:
    """Shows what a model is, how it was trained and what it scored, from its card.

    Args:
        what: Always show.
        model: A run folder, a model file, or champion.
        game: What the model plays; only champion, a name in both games, needs it.
        json: The card as it is, as JSON, instead of a text.
    """
    show_model(model, game=game, as_json=json)
