"""``war bench``."""

import tyro

from war_agents.bench import Section


def run(what: tyro.conf.Positional[Section], *, json: bool = False) -> None:
    """Measures how fast something is, in less than a minute.

    Args:
        what: The batch engine, the PettingZoo environments, vector environments, training (which
            needs the extra "train"), or tournaments.
        json: One line of JSON per measurement, as soon as it is there, instead of a table.
    """
    # Here, so that no other command has to load it.
    from war_agents.bench import report
    from war_agents.bench import run as measured

    measurements = measured(what)
    if json:
        report.print_lines(measurements)
    else:
        report.print_table(measurements)
