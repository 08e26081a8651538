"""A position set up by hand: what each player knows, and what each choice would bring."""

from war_envs import attack_defence_v0

env = attack_defence_v0.raw_env(render_mode="ansi", render_view="all")
env.reset(seed=7, options={"hands": (["AH", "7D", "TC"], ["KS", "2C"])})
print(env.render())
print("player_0 knows", env.known("player_0"))

for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
    copy = env.clone()
    copy.step(first)
    copy.step(second)
    print(copy.event)
    print(f"  {copy.hands}")
