"""TorchRL: masked PPO on a Gymnasium id, one seat of Strategic War against random play."""

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

torch.manual_seed(1)
torch.set_num_threads(1)
game = gymnasium.make(
    "war_envs:war_envs/StrategicWar-Minimal-v0",
    num_ranks=5,
    opponent="random",
    mask="observation",  # observations of two keys, "observation" and "action_mask"
)
# TorchRL's masks are booleans. ActionMask keeps the action spec to what is legal, for whatever
# draws from it without a policy.
env = TransformedEnv(
    GymWrapper(game, categorical_action_encoding=True),
    Compose(DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]), ActionMask()),
)
env.set_seed(1)
size, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n


def network(outputs: int) -> nn.Module:
    """A small MLP over what the player sees."""
    return nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, outputs))


actor = ProbabilisticActor(
    TensorDictModule(network(actions), in_keys=["observation"], out_keys=["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    return_log_prob=True,
)
critic = TensorDictModule(network(1), in_keys=["observation"], out_keys=["state_value"])
gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
optimizer = torch.optim.Adam(loss_of.parameters(), lr=1e-3)

drawn = env.rollout(100, break_when_any_done=False)  # without a policy: random legal actions
chosen = len(drawn)
illegal = int((~drawn["action_mask"].gather(-1, drawn["action"][:, None])).sum())
collector = Collector(
    env,
    actor,
    frames_per_batch=1024,
    total_frames=8192,
    auto_register_policy_transforms=False,  # an MLP needs none
)
for batch in collector:
    chosen += len(batch)
    illegal += int((~batch["action_mask"].gather(-1, batch["action"][:, None])).sum())
    results = batch["next", "reward"][batch["next", "done"]]
    with torch.no_grad():
        gae(batch)
    for _ in range(4):
        for rows in torch.randperm(len(batch)).split(256):
            losses = loss_of(batch[rows])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
    print(f"{len(results)} games, {results.mean():+.2f} points a game")
collector.shutdown()

print(f"illegal moves: {illegal} of {chosen}")
assert chosen == 100 + 8192
assert illegal == 0
