"""Numbers that must stay: deals, matches, a tournament, a network, and a training run."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import torch

from tests.golden.playthroughs import GAMES
from tests.reference.cards import Game
from tests.support.envs import raw_env
from war_agents import make, scripted
from war_agents.arena import Tournament, play_match
from war_envs.batch import make_batch
from war_envs.engine import seeding
from war_envs.registration import GYMNASIUM_IDS
from war_envs.variant import VARIANT_NAMES
from war_train.config import TrainConfig
from war_train.ppo import train

DECIMALS: Final = 6  # of what is computed with floats


def _deals() -> dict[str, Any]:
    """What seeds deal, in each API: hands, or hashes of what is observed first."""
    deals: dict[str, Any] = {}
    for game in GAMES:
        env = raw_env(game)
        for seed in (0, 1, seeding.MAX_SEED):
            env.reset(seed=seed)
            deals[f"{game}, seed {seed}"] = [" ".join(hand) for hand in env.hands]
        batch = make_batch(game, 3)
        for domain in (seeding.TRAINING, seeding.EVALUATION):
            batch.reset(seed=7, domain=domain)
            deals[f"{game}, 3 lanes of domain {domain}"] = _digest(*batch.observe())
    for id_ in GYMNASIUM_IDS:
        one = gymnasium.make(id_)
        observation, info = one.reset(seed=7)
        deals[id_] = f"seat {info['seat']} {_digest(observation)}"
        many = gymnasium.make_vec(id_, num_envs=3)
        observations, infos = many.reset(seed=7)
        deals[f"{id_}, 3 at once"] = f"seats {infos['seat'].tolist()} {_digest(observations)}"
        many.close()
    return deals


def _matches() -> dict[str, Any]:
    """Scripted agents against `random` in every variant: a digest of all games, and their score."""
    played = {}
    for game in GAMES:
        for variant in VARIANT_NAMES:
            for name in scripted.names(game):
                match = play_match(name, "random", game=game, variant=variant, deals=10, seed=3)
                digest = _digest(match.results, match.lengths, match.truncated)
                played[f"{game} {variant} {name}"] = f"{match.score:.3f} {digest}"
    return played


def _tournament() -> Any:
    """``results.json``, but for the versions that it was played with."""
    names = ["random", "attack", "memory"]
    tournament = Tournament(names, game="attack-defence", variants=["minimal"], deals=40, seed=5)
    results = tournament.run().to_json()
    del results["versions"]
    return _rounded(json.loads(json.dumps(results)))


def _champions() -> dict[str, Any]:
    """The probabilities that trained agents give to the actions of a few positions."""
    answers: dict[str, Any] = {}
    for game in GAMES:
        for variant in ("standard", "minimal+fair"):
            agent: Any = make("champion", game=game, variant=variant)
            batch = make_batch(game, 4, variant)
            batch.reset(seed=11)
            rows, seats = np.arange(4), np.zeros(4, np.int64)
            tokens, mask = batch.observe(rows, seats)
            with torch.no_grad():
                chances = agent.probabilities(tokens, mask)
            answers[f"{game} {variant}"] = _rounded(np.asarray(chances).tolist())
    return answers


def _training() -> Any:
    """The logs of two updates of small runs."""
    return {game: _log(game) for game in GAMES}


def _log(game: Game) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(
            game=game,
            minimal=True,
            out=Path(folder) / "run",
            seed=1,
            steps=1024,
            num_envs=32,
            rollout=512,
            batch_size=256,
            epochs=1,
            embedding=16,
            hidden=16,
            evaluate_every=0,
            final_deals=5,
            threads=1,
            progress=False,
        )
        train(config)
        lines = (config.out / "log.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        del row["seconds"], row["steps_per_second"]
    return _rounded(rows)


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


# What makes the content of each file.
RESULTS: Final[dict[str, Callable[[], Any]]] = {
    "deals.json": _deals,
    "matches.json": _matches,
    "tournament.json": _tournament,
    "champions.json": _champions,
    "training.json": _training,
}
