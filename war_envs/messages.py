"""Values in error messages."""


def shown(value: object) -> str:
    """``value`` for an error message: on one line, and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}..."
