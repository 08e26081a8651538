"""The ``war`` command.

Exit codes: 0; 1 with one line on standard error for anything that is wrong with what was asked for;
2 for a wrong command line; 3 after a tournament with an agent that lost every game by failing; 130
after Ctrl-C and 143 after SIGTERM.
"""

from war_agents.cli.command import main

__all__ = ["main"]
