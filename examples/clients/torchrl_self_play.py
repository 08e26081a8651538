"""TorchRL: masked PPO by self-play, one network for both seats of Strategic War."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from war_envs import strategic_war_v0

torch.manual_seed(1)
torch.set_num_threads(1)
# The AEC environment as it is: turn_based_aec_to_parallel would give the player who waits a mask
# without a legal action, from which nothing can be sampled. One group is one network for both.
env = PettingZooWrapper(
    strategic_war_v0.env(minimal=True, num_ranks=5),
    use_mask=True,
    group_map={"player": ["player_0", "player_1"]},
    seed=1,
)
size = env.observation_spec["player", "observation", "observation"].shape[-1]
actions = env.full_action_spec_unbatched["player", "action"].space.n


def network(outputs: int) -> nn.Module:
    """A small MLP over what one player sees."""
    return nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, outputs))


seen = ("player", "observation", "observation")
actor = ProbabilisticActor(
    TensorDictModule(network(actions), in_keys=[seen], out_keys=[("player", "logits")]),
    in_keys={"logits": ("player", "logits"), "mask": ("player", "action_mask")},
    out_keys=[("player", "action")],
    distribution_class=MaskedCategorical,
    return_log_prob=True,
    log_prob_key=("player", "log_prob"),
)
critic = TensorDictModule(network(1), in_keys=[seen], out_keys=[("player", "value")])
keys = {
    "reward": ("player", "reward"),
    "done": ("player", "done"),
    "terminated": ("player", "terminated"),
    "value": ("player", "value"),
}
gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
gae.set_keys(**keys, advantage=("player", "advantage"), value_target=("player", "target"))
loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
loss_of.set_keys(
    **keys,
    action=("player", "action"),
    sample_log_prob=("player", "log_prob"),
    advantage=("player", "advantage"),
    value_target=("player", "target"),
)
optimizer = torch.optim.Adam(loss_of.parameters(), lr=1e-3)

chosen = illegal = 0
paid = []
collector = Collector(
    env,
    actor,
    frames_per_batch=512,
    total_frames=2048,
    auto_register_policy_transforms=False,  # an MLP needs none
)
for batch in collector:
    acts = batch["player", "mask"]  # (time, player): whose turn it was
    action, legal = batch["player", "action"][acts], batch["player", "action_mask"][acts]
    chosen += len(action)
    illegal += int((~legal.gather(-1, action[:, None])).sum())
    ended = batch["next", "done"].squeeze(-1)
    paid.append(batch["next", "player", "reward"][ended].squeeze(-1))  # (game, player)

    with torch.no_grad():
        gae(batch)
    # The critic learns from every row; only who acted has an advantage.
    advantage = batch["player", "advantage"]
    ours = advantage[acts]
    batch["player", "advantage"] = (advantage - ours.mean()) / ours.std() * acts[..., None]
    for _ in range(4):
        for rows in torch.randperm(len(batch)).split(128):
            losses: TensorDict = loss_of(batch[rows])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
    print(f"{len(paid[-1])} games of {512 / len(paid[-1]):.1f} decisions")
collector.shutdown()

rewards = torch.cat(paid)
assert (rewards.sum(-1) == 0).all(), "what one player wins, the other loses"
assert rewards.abs().sum() > 0
print(f"illegal moves: {illegal} of {chosen}")
assert illegal == 0
