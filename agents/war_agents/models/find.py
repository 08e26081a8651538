"""Which model a name stands for, found by its card alone: torch is not needed."""

from pathlib import Path

from war_agents.models.model_card import Card, card_file, read_card
from war_agents.models.shipped import CHAMPION, GAMES_WITH_CHAMPION, champion_file
from war_agents.registry import model_file, names, unsaved
from war_envs.messages import shown
from war_envs.variant import GAMES


def find_model(name: str | Path, game: str | None = None) -> tuple[Path, Card]:
    """The file and the card of a model.

    Args:
        name: ``"champion"``, a run folder or a model file.
        game: the game that it plays; needed only for ``"champion"``, a name in both games.

    Raises:
        ValueError: there is no such model, it plays another game, or its card is damaged; in one
            line that names it.
    """
    if str(name) == CHAMPION:
        if game not in GAMES_WITH_CHAMPION:
            raise ValueError(
                f"game={shown(game)} is not allowed with {CHAMPION!r}; "
                f"choose from {', '.join(GAMES_WITH_CHAMPION)}"
            )
        file = champion_file(game)
    else:
        file = model_file(name)
        if not file.exists() and not card_file(file).exists():
            scripted = any(str(name) in names(each) for each in GAMES)
            what = "a scripted agent, which has no card" if scripted else "no model"
            raise ValueError(
                unsaved(name)
                or f"{str(name)!r} is {what}; give a run folder, a model file or {CHAMPION!r}"
            )
    card = read_card(file)
    if game not in (None, card.game):
        raise ValueError(f"game={shown(game)} is not allowed; {str(name)!r} plays {card.game}")
    return file, card
