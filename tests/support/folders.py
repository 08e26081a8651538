"""Small tournaments and their folders."""

from pathlib import Path
from typing import Any

from war_agents.arena import Tournament, TournamentResult
from war_envs.variant import make_variant

AGENTS = ["random", "attack", "memory"]
GAMES, SETTINGS, RESULTS = "games.jsonl", "settings.json", "results.json"
TINY = make_variant("attack-defence", "minimal", num_ranks=5)


def tournament(agents: Any = AGENTS, **options: Any) -> Tournament:
    given: dict[str, Any] = {"game": "attack-defence", "variants": TINY, "deals": 4, "seed": 5}
    return Tournament(agents, **{**given, **options})


def resumed(out: Path, agents: Any = AGENTS, **options: Any) -> TournamentResult:
    return tournament(agents, **options).run(out, resume=True)


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "tournament.lock"}
