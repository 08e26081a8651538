"""Where a tournament is played: here, in processes, or on a cluster."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from war_agents.arena.entrant import Entrant
from war_agents.arena.lineup import Lineup
from war_agents.arena.playing.blocks import Block, Setup
from war_agents.arena.playing.pool import InProcess, Pool, Processes, num_cores
from war_agents.arena.settings import Settings

FEW_GAMES: Final = 50_000  # of scripted agents; fewer are over before worker processes pay off
BLOCK_COST: Final = 2_000  # of a block, however few games it has, in games
SLOWNESS: Final = 10  # of a game in which a network plays


def make_pool(settings: Settings, lineup: Lineup, blocks: Sequence[Block]) -> Pool:
    """Who plays ``blocks``.

    Raises:
        ValueError: an agent cannot be sent to other processes.
        ImportError: Ray is asked for and missing.
    """
    if settings.ray is None and (settings.workers == 0 or _stays_here(settings, lineup, blocks)):
        return InProcess(_setup(settings, lineup, lineup.entrants))
    setup = _setup(settings, lineup, [entrant.to_send() for entrant in lineup.entrants])
    if settings.ray is not None:
        from war_agents.arena.playing.ray_pool import RayPool  # needs ray, which few have

        return RayPool(setup, settings.ray)
    return Processes(setup, settings.workers or num_cores())


def _stays_here(settings: Settings, lineup: Lineup, blocks: Sequence[Block]) -> bool:
    """Does nothing speak for other processes? They keep what hangs apart, and take a moment."""
    networks = any(player.deterministic is not None for player in lineup.players)
    work = sum(block.games + BLOCK_COST for block in blocks)
    few = work * (SLOWNESS if networks else 1) <= FEW_GAMES
    return settings.workers is None and few and not any(lineup.limited)


def _setup(settings: Settings, lineup: Lineup, entrants: Sequence[Entrant]) -> Setup:
    return Setup(
        entrants=tuple(entrants),
        variants=settings.played,
        seed=settings.seed,
        deterministic=settings.deterministic,
        limited=lineup.limited,
        time_limit=settings.time_limit,
        path=tuple(entry or os.getcwd() for entry in sys.path),
    )
