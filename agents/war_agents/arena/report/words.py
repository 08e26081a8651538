"""What a tournament found, in words: numbers as text, and findings as sentences."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from war_agents.arena.results import MEAN, NotableGame, TournamentResult
from war_envs.games import SPECS


def title(result: TournamentResult) -> str:
    """The name of the game."""
    return SPECS[result.game].title


def length_unit(result: TournamentResult) -> str:
    """What the length of a game is counted in."""
    return SPECS[result.game].length_unit


def lead(result: TournamentResult) -> str:
    """What sets the first seat apart."""
    return SPECS[result.game].lead


class Note(NamedTuple):
    """What a number means, and where it comes from."""

    term: str
    meaning: str
    source: str


def elo(value: float) -> str:
    """Elo points, with their sign."""
    return f"{round(value):+d}" if round(value) else "0"


def elo_interval(low: float | None, high: float | None) -> str:
    """An interval of Elo points, of which an end may be missing."""
    if low is None:
        return "unbounded" if high is None else f"< {elo(high)}"
    return f"> {elo(low)}" if high is None else f"{elo(low)} to {elo(high)}"


def interval(low: float, high: float) -> str:
    """An interval of scores or rates."""
    return f"{low:.3f} to {high:.3f}"


def score(value: float | None) -> str:
    """A score; empty where there is none."""
    return "" if value is None else f"{value:.3f}"


def count(number: int, thing: str) -> str:
    """``number`` with its noun, as in "1 game" and "2 games"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def joined(names: Sequence[str]) -> str:
    """``names`` as a sentence lists them."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def variant_words(variant: str) -> str:
    """What a standing is about."""
    return "the mean of all variants" if variant == MEAN else variant


def headline(result: TournamentResult) -> str:
    """What was played."""
    return f"{title(result)}, {summary(result)}"


def summary(result: TournamentResult) -> str:
    """What was played, without the name of the game."""
    games = sum(pair.games for pair in result.pairs)
    if len(result.variants) == 1:
        variants, each = result.variants[0].name, "a pair"
    else:
        variants, each = f"{len(result.variants)} variants", "a pair and variant"
    return (
        f"{variants}: {count(len(result.agents), 'agent')}, {count(result.deals, 'deal')} {each}, "
        f"{count(games, 'game')}, seed {result.seed}"
    )


def leader(result: TournamentResult) -> str:
    """Who is rated highest."""
    best = result.ratings[0]
    names = [r.agent for r in result.ratings if round(r.elo) == round(best.elo)]
    if len(names) > 1:
        return f"{joined(names)} are rated highest, each {elo(best.elo)} Elo."
    ends = elo_interval(best.elo_low, best.elo_high)
    return f"{best.agent} is rated highest: {elo(best.elo)} Elo (95 % interval {ends})."


def cycles(result: TournamentResult) -> list[str]:
    """Who beats whom in a circle, a line a cycle."""
    several = len(result.variants) > 1
    return [
        (f"In {variant_words(standing.variant)}: " if several else "")
        + " beats ".join((*cycle, cycle[0]))
        for standing in result.standings
        for cycle in standing.cycles
    ]


def separation(result: TournamentResult) -> list[str]:
    """How far the order is decided, where somebody asked."""
    found = result.separation
    if found is None:
        return []
    pairs = len(found.decided) + len(found.undecided)
    confidence = f"at a family-wise confidence of {100 * found.confidence:g} %"
    if found.separated:
        return [f"Separated: every pair of agents is told apart {confidence}."]
    undecided = "; ".join(f"{a} and {b}" for a, b in found.undecided)
    decided = f"{len(found.decided)} of {pairs} pairs of agents are told apart {confidence}"
    return [f"Not separated: {decided}. Undecided: {undecided}."]


def forfeits(result: TournamentResult) -> list[str]:
    """Who lost games by failing, a line a pair and variant."""
    return [
        f"{row.agent} forfeited {count(row.games, 'game')} against {row.opponent} "
        f"in {row.variant}; the first: {row.reason}"
        for row in result.forfeits
    ]


def cut_off(result: TournamentResult) -> list[str]:
    """How many games were cut off, if any."""
    games = sum(pair.truncated for pair in result.pairs)
    if not games:
        return []
    return [f"Cut off at the turn limit, and counted as draws: {count(games, 'game')}."]


def warnings(result: TournamentResult) -> list[str]:
    """What a reader should know before trusting the numbers."""
    failed = [
        f"{agent} failed in every game that it did not win by a failure of its opponent; its "
        "rating says nothing"
        for agent in result.failed
    ]
    return [f"Warning: {line}" for line in (*failed, *result.warnings)]


def notable_title(game: NotableGame) -> str:
    """Why a game is shown."""
    return "Longest game" if game.why == "longest" else "Biggest upset"


def notable(game: NotableGame, unit: str) -> str:
    """Who played it, and how it ended; ``unit`` is what its length counts."""
    first, second = game.players
    told = f"In {game.variant}, deal {game.deal}: {first} (seat 0) against {second} (seat 1)"
    if game.first_attacker is not None:
        told += f"; seat {game.first_attacker} attacked first"
    after = f"after {count(game.length, unit.removesuffix('s'))}"
    if game.truncated:
        return f"{told}. It was cut off {after}."
    if game.winner is None:
        return f"{told}. It was a draw {after}."
    told += f". {game.winner} won {after}"
    if game.elo_gap is None:
        return f"{told}."
    return f"{told}, rated {round(game.elo_gap)} Elo points below the loser."


def settings(result: TournamentResult) -> dict[str, str]:
    """All that decides the games, by name."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in result.settings.items()
    }


def notes(result: TournamentResult) -> list[Note]:
    """What each number means, in a sentence, with its source."""
    both = " and with each first attacker" if SPECS[result.game].has_first_attacker else ""
    found = [
        Note(
            "Score",
            "Points a game: 1 for a win, ½ for a draw, 0 for a loss; games cut off at the turn "
            f"limit are draws, and every pair plays the same deals, each from both seats{both}.",
            "",
        ),
        Note(
            "Intervals of scores and rates",
            "95 % intervals over deals, as the games of one deal depend on each other; equal deals "
            "count as one.",
            "E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small "
            "expected number of positive counts estimated from survey data, Survey Methodology 24, "
            "1998",
        ),
        Note(
            "Elo",
            "The ratings of one Bradley-Terry model of all games, with the mean 0; it has a term "
            f"for draws and one for {lead(result)}. Where draws are common, differences are "
            "wider than scores suggest: they are about the games that are decided.",
            "R. R. Davidson, On extending the Bradley-Terry model to accommodate ties in paired "
            "comparison experiments, Journal of the American Statistical Association 65, 1970; "
            "R. R. Davidson and R. J. Beaver, On extending the Bradley-Terry model to incorporate "
            "within-pair order effects, Biometrics 33, 1977",
        ),
        Note(
            "Intervals of Elo",
            "95 % intervals by resampling deals; an end is missing where the games set the rating "
            "no bound, and the rating is then what one game more between every two agents, half "
            "won and half lost, leaves.",
            "D. B. Rubin, The Bayesian bootstrap, The Annals of Statistics 9, 1981",
        ),
        Note(
            "Mean score",
            "The mean of an agent's scores against all others, each opponent weighing the same.",
            "",
        ),
        Note(
            "Nash share and Nash score",
            "An agent's share in the maximum-entropy Nash equilibrium of the payoff matrix, and "
            "what it scores against that equilibrium; copies of an agent divide its share.",
            "D. Balduzzi, K. Tuyls, J. Pérolat and T. Graepel, Re-evaluating evaluation, Advances "
            "in Neural Information Processing Systems 31, 2018",
        ),
        Note(
            "Alpha-rank",
            "An agent's share of the stationary distribution of an evolution in which agents that "
            "beat others replace them; in a cycle all of its agents keep a share.",
            "S. Omidshafiei et al., Alpha-rank: multi-agent evaluation by evolution, Scientific "
            "Reports 9, 2019",
        ),
        Note(
            "Cycles",
            "Agents of which each beats the next, and the last the first, each with a 95 % "
            "interval above one half.",
            "",
        ),
    ]
    if result.separation is not None:
        found.append(
            Note(
                "Separation",
                "Which of two agents has the higher mean score, by a sequential test that may be "
                "read after every deal; the confidence is that of all pairs together.",
                "I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by "
                "betting, Journal of the Royal Statistical Society B 86, 2024",
            )
        )
    return found
