"""The scripted baselines."""


def register_all() -> None:
    """Registers the scripted agents of both games."""
