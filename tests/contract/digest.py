"""Plays games in every interface and prints one digest of all that is shown.

Run by the tests beside it. Nothing but seeds may decide the digest: not the process, the hash seed,
or the number of threads, which is the first argument.
"""

import hashlib
import sys

import numpy as np

import war_agents
from war_agents import scripted
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.batch import LEAST_ROWS, make_batch
from war_envs.engine import seeding
from war_envs.testing.drivers import AECDriver, ParallelDriver, record
from war_envs.variant import GAMES

digest = hashlib.sha256()


def add(value: object) -> None:
    """Adds something that is shown by its repr: dicts in their order, sets in theirs."""
    digest.update(repr(value).encode())


def main(threads: int) -> None:
    """Games of environments, of batches, and of agents."""
    LEAST_ROWS.update(dict.fromkeys(LEAST_ROWS, 1))
    few = {"minimal": True, "num_ranks": 7}
    for driver in (
        AECDriver(attack_defence_v0.env(**few)),
        AECDriver(strategic_war_v0.env(**few, encoding="tokens")),
        ParallelDriver(attack_defence_v0.parallel_env(fair=True, num_ranks=5)),
    ):
        driver.reset(7)
        for _ in range(5):
            add(record(driver, 7))
            driver.reset()
    for game in GAMES:
        add(scripted.names(game))
        for name in scripted.names(game):
            agent = war_agents.make(name, game=game, variant="minimal")
            batch = make_batch(
                game,
                200,
                "minimal",
                encoding=agent.encoding,
                memory=agent.memory,
                num_threads=threads,
            )
            batch.reset(seed=7, domain=seeding.EVALUATION)
            for counter in range(150):
                rows, seats = np.nonzero(batch.acting)
                observation, mask = batch.observe(rows, seats)
                lanes = np.arange(400, dtype=np.uint64)[2 * rows + seats]
                chosen = np.zeros((200, 2), np.int64)
                seeds = seeding.action_seeds(lanes, counter)
                chosen[rows, seats], _ = agent.act(observation, mask, seeds)
                step = batch.step(chosen)
                for array in (observation, mask, chosen, step.reward, step.final_observation):
                    digest.update(array.tobytes())
    print(digest.hexdigest())


if __name__ == "__main__":
    main(int(sys.argv[1]))
