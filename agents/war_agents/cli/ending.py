"""How a command ends that cannot do what was asked for."""

import sys
from typing import NoReturn

from war_envs.messages import printable


def fail(message: str, code: int = 1) -> NoReturn:
    """Ends the process with one line on standard error."""
    print("war:", printable(" ".join(message.split())), file=sys.stderr)
    sys.exit(code)
