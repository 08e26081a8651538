"""The public states of War of Attack and Defence, as the game's own kernels make them.

What is private lasts one turn: the own top card, which is then played face up. So a turn is a game
of one choice on a *public state*, what both players know, and its outcome leads to another.

A state is *open* once both know every card. What made it so does not matter any more, nor do suits:
its key is that of the same hands in an Open-card game. Payoffs are player_0's.
"""

from typing import Any, Final

import numpy as np

from war_agents.planning.stage import MAX_TYPES, solve_bayesian, solve_matrix
from war_agents.solve.index import fingerprint, number_of
from war_envs.attack_defence.knowledge import write_key
from war_envs.attack_defence.rules import play
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import NO_CARD, RUNNING, Integer, Record, Records, bit, card_at, rank
from war_envs.engine.knowledge import KEY_BYTES, PUBLIC, exchange_hands, exchanged

LOST: Final = -1  # in place of a state's number: player_0 has won, or player_1
WON: Final = -2
NUM_OUTCOMES: Final = 4  # by the choices of both: 2 * player_0's + player_1's


@kernel
def is_open(game: Record) -> bool:
    """Do both players know every card?"""
    return bool(game.seen[0] & game.seen[1] == game.in_play)


@kernel
def forget(game: Record) -> None:
    """Makes equal what does not matter: turns played, and what has led to an open state."""
    game.turn = 0
    if is_open(game):
        game.twins = 0


@kernel
def number(games: Records, row: Integer, key: Any, slots: Any, prints: Any, count: Integer) -> Any:
    """The number of the public state of game ``row``; ``count`` if it is new."""
    length = write_key(games, row, PUBLIC, False, False, False, key)
    first, second = fingerprint(key, length)
    return number_of(slots, prints, count, first, second)


@kernel
def expand_open(
    games: Records, slots: Any, prints: Any, count: Integer, after: Any, found: Records
) -> Integer:
    """What each choice of both players in open states leads to.

    Args:
        games: (B,), running games in open states.
        slots, prints, count: an `Index`'s, with room for 4 B more.
        after: i4 (B, 4), in which the states are written, or `LOST` or `WON`.
        found: (4 B,), in which a game of each new state is written, in the order of numbers.

    Returns:
        How many states there are now.
    """
    scratch = np.empty(1, games.dtype)
    key = np.empty(KEY_BYTES, np.uint8)
    first = count
    for k in range(games.shape[0]):
        for outcome in range(NUM_OUTCOMES):
            scratch[0] = games[k]
            game = scratch[0]
            play(game, outcome >> 1, outcome & 1)
            if game.status != RUNNING:
                after[k, outcome] = LOST if game.winner == 1 else WON
                continue
            forget(game)
            state = number(scratch, 0, key, slots, prints, count)
            if state == count:
                found[count - first] = game
                count += 1
            after[k, outcome] = state
    return count


@kernel
def number_open(
    games: Records, slots: Any, prints: Any, count: Integer, numbers: Any, found: Records
) -> Integer:
    """The numbers of games in open states.

    Args:
        games: (B,).
        slots, prints, count: an `Index`'s, with room for B more.
        numbers: i8 (B,), in which they are written.
        found: (B,), in which a game of each new state is written, in the order of numbers.

    Returns:
        How many states there are now.
    """
    key = np.empty(KEY_BYTES, np.uint8)
    first = count
    for k in range(games.shape[0]):
        forget(games[k])
        numbers[k] = number(games, k, key, slots, prints, count)
        if numbers[k] == count:
            found[count - first] = games[k]
            count += 1
    return count


@kernel
def value_of(after: Integer, values: Any) -> float:
    """What an outcome is worth, by the values of states one turn on."""
    return values[after] if after >= 0 else (1.0 if after == WON else -1.0)


@kernel
def induce(after: Any, behind: Any, values: Any) -> None:
    """The values of all open states with one turn more to play.

    Args:
        after: i4 (S, 4), see `expand_open`.
        behind: f8 (S,), their values with one turn less.
        values: f8 (S,), in which they are written.
    """
    for state in range(after.shape[0]):
        values[state], _, _ = solve_matrix(
            value_of(after[state, 0], behind),
            value_of(after[state, 1], behind),
            value_of(after[state, 2], behind),
            value_of(after[state, 3], behind),
        )


@kernel
def _put(games: Records, row: Integer, player: Integer, place: Integer, card: Integer) -> None:
    """Exchanges cards that are not publicly known, so that ``card`` lies at a place of a hand."""
    game: Record = games[row]
    held = np.int64(card_at(game, player, place))
    if held == card:
        return
    other = np.arange(64)
    other[held], other[card] = card, held
    if game.twins:
        other[held ^ 1], other[card ^ 1] = card ^ 1, held ^ 1
    exchange_hands(game, other)
    for viewer in range(2):
        game.seen[viewer] = exchanged(game.seen[viewer], other)


@kernel
def _options(
    game: Record, player: Integer, place: Integer, fixed: Any, cards: Any, weights: Any
) -> Integer:
    """Which cards may lie at a place, by what is publicly known, and with what probability.

    Args:
        game: a deal that fits what is known.
        player, place: where.
        fixed: the bit mask of cards that are known or have been placed already.
        cards: i8 (13,), in which one card of each kind is written: of each rank, or where twins
            tell, each card.
        weights: f8 (13,), in which their probabilities are written.

    Returns:
        The number of kinds.
    """
    held = np.int64(card_at(game, player, place))
    if fixed & bit(held):
        cards[0], weights[0] = held, 1.0
        return 1
    kinds = np.int64(0)
    total = 0.0
    for card in range(64):
        if not game.in_play & ~fixed & bit(card):
            continue
        if game.twins and (card ^ held) & 1:  # each hand has its own colour
            continue
        total += 1.0
        kind: Integer = kinds
        if not game.twins:
            for k in range(kinds):
                if rank(cards[k]) == rank(card):
                    kind = k
        if kind == kinds:
            cards[kinds], weights[kinds] = card, 0.0
            kinds += 1
        weights[kind] += 1.0
    for k in range(kinds):
        weights[k] /= total
    return kinds


@kernel
def _placed(game: Record, card: Integer) -> Any:
    """The bit mask of a card that has been placed, and of its twin where that follows."""
    return bit(card) | bit(card ^ 1) if game.twins else bit(card)


@kernel
def visit_hidden(
    games: Records,
    row: Integer,
    work: Records,
    open_slots: Any,
    open_prints: Any,
    open_found: Records,
    open_counts: Any,
    open_values: Any,
    hidden_slots: Any,
    hidden_prints: Any,
    hidden_found: Records,
    hidden_counts: Any,
    hidden_values: Any,
    prior: Any,
    payoffs: Any,
) -> tuple[Any, Any]:
    """All that may happen in a turn from a public state in which a card is unknown.

    Args:
        games, row: a deal that fits the state.
        work: (4,), working memory.
        open_slots, open_prints, hidden_slots, hidden_prints: `Index`es of the states that follow,
            with room for all of them.
        open_counts, hidden_counts: i8 (2,), how many states there are, and how many of them were
            there when the first of ``found`` was written.
        open_found, hidden_found: in which a game of each new state is written.
        open_values, hidden_values: f8, what states are worth; shorter where that is not known yet,
            and then payoffs mean nothing.
        prior: f8 (13, 13), in which the joint probabilities of types are written, the kinds of top
            cards of both players.
        payoffs: f8 (13, 13, 2, 2), in which expected values are written, by types and choices.

    Returns:
        How many types each player has.
    """
    key = np.empty(KEY_BYTES, np.uint8)
    cards = np.empty((3, MAX_TYPES), np.int64)
    weights = np.empty((3, MAX_TYPES))
    start: Record = games[row]
    known = start.seen[0] & start.seen[1]
    prior[:] = 0.0
    payoffs[:] = 0.0
    columns = np.int64(0)  # the kinds of player_1's top card that have come up, in cards[1]
    seconds = np.empty(MAX_TYPES, np.int64)
    rows = _options(start, 0, 0, known, cards[0], weights[0])
    for i in range(rows):
        work[0] = games[row]
        _put(work, 0, 0, 0, cards[0, i])
        with_first = known | _placed(work[0], cards[0, i])
        number_seconds = _options(work[0], 1, 0, with_first, seconds, weights[1])
        for second in range(number_seconds):
            card = seconds[second]
            j: Integer = columns
            for k in range(columns):
                same = cards[1, k] == card if work[0].twins else rank(cards[1, k]) == rank(card)
                if same:
                    j = k
            if j == columns:
                cards[1, columns] = card
                columns += 1
            prior[i, j] = weights[0, i] * weights[1, second]
            work[1] = work[0]
            _put(work, 1, 1, 0, card)
            with_both = with_first | _placed(work[1], card)
            for outcome in range(NUM_OUTCOMES):
                work[2] = work[1]
                play(work[2], outcome >> 1, outcome & 1)
                extra = work[2].last_extra
                kinds = np.int64(1)
                loser = 1 - work[2].last_taker
                if extra != NO_CARD:  # which card is shown is not known before
                    kinds = _options(work[1], loser, 1, with_both, cards[2], weights[2])
                for shown in range(kinds):
                    weight = 1.0
                    if extra != NO_CARD:
                        work[2] = work[1]
                        _put(work, 2, loser, 1, cards[2, shown])
                        play(work[2], outcome >> 1, outcome & 1)
                        weight = weights[2, shown]
                    worth = 0.0
                    if work[2].status != RUNNING:
                        worth = -1.0 if work[2].winner == 1 else 1.0
                    else:
                        work[3] = work[2]
                        forget(work[3])
                        if is_open(work[3]):
                            state = number(work, 3, key, open_slots, open_prints, open_counts[0])
                            if state == open_counts[0]:
                                open_found[state - open_counts[1]] = work[3]
                                open_counts[0] += 1
                            if state < open_values.shape[0]:
                                worth = open_values[state]
                        else:
                            state = number(
                                work, 3, key, hidden_slots, hidden_prints, hidden_counts[0]
                            )
                            if state == hidden_counts[0]:
                                hidden_found[state - hidden_counts[1]] = work[3]
                                hidden_counts[0] += 1
                            if state < hidden_values.shape[0]:
                                worth = hidden_values[state]
                    payoffs[i, j, outcome >> 1, outcome & 1] += weight * worth
    return rows, columns


@kernel
def visit_all(
    games: Records,
    open_slots: Any,
    open_prints: Any,
    open_found: Records,
    open_counts: Any,
    open_values: Any,
    hidden_slots: Any,
    hidden_prints: Any,
    hidden_found: Records,
    hidden_counts: Any,
    hidden_values: Any,
    solve: bool,
    values: Any,
) -> None:
    """`visit_hidden` for all ``games``; with ``solve`` also their values, f8 (B,)."""
    work = np.empty(4, games.dtype)
    prior = np.empty((MAX_TYPES, MAX_TYPES))
    payoffs = np.empty((MAX_TYPES, MAX_TYPES, 2, 2))
    table = np.empty((2 * MAX_TYPES + 1, 4 * MAX_TYPES + 1))
    basis = np.empty(2 * MAX_TYPES, np.int64)
    first, second = np.empty(MAX_TYPES), np.empty(MAX_TYPES)
    for row in range(games.shape[0]):
        rows, columns = visit_hidden(
            games,
            row,
            work,
            open_slots,
            open_prints,
            open_found,
            open_counts,
            open_values,
            hidden_slots,
            hidden_prints,
            hidden_found,
            hidden_counts,
            hidden_values,
            prior,
            payoffs,
        )
        if solve:
            values[row] = solve_bayesian(
                prior[:rows, :columns],
                payoffs[:rows, :columns],
                table[: rows + columns + 1, : 2 * (rows + columns) + 1],
                basis[: rows + columns],
                first[:rows],
                second[:columns],
            )
