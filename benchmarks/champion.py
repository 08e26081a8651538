"""What the champion scores against every scripted agent of its game, in all eight variants.

    python benchmarks/champion.py attack-defence > champion-attack-defence.jsonl

Each of 2000 deals per pair is played from both seats (Strategic War: and by both first attackers);
a draw is half a point. Prints one line of JSON per pair, with its 95 % interval.
"""

import sys
from typing import Final

from war_agents import scripted
from war_agents.arena import play_match
from war_agents.files import json_text
from war_envs.variant import VARIANT_NAMES

DEALS: Final = 2000
SEED: Final = 2026


def main() -> None:
    """Plays all matches of the game that the command line names."""
    game = sys.argv[1]
    for variant in VARIANT_NAMES:
        for name in scripted.names(game):
            match = play_match("champion", name, game=game, variant=variant, deals=DEALS, seed=SEED)
            row = {"variant": variant, "opponent": name, "deals": DEALS, "seed": SEED}
            row |= {"score": match.score, "low": match.low, "high": match.high}
            row |= {"wins": match.wins, "draws": match.draws, "losses": match.losses}
            print(json_text(row), flush=True)


if __name__ == "__main__":
    main()
