"""``war envs``."""

from war_envs.registration import GYMNASIUM_IDS, PETTINGZOO_IDS


def run() -> None:
    """Lists every registered id, and what makes it."""
    rows = [(id_, "gymnasium") for id_ in GYMNASIUM_IDS]
    rows += [(id_, f"pettingzoo {kind}") for kind, ids in PETTINGZOO_IDS.items() for id_ in ids]
    width = max(len(id_) for id_, _ in rows)
    for id_, maker in rows:
        print(f"{id_:{width}}  {maker}")
