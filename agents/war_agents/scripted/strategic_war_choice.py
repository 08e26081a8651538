"""How the agent of Strategic War that remembers chooses: kernels on token observations.

`war_agents.scripted.strategic_war.MemoryAgent` says what is computed. A hand is a span of a token
observation, top first: ``a`` to ``a_end - 1`` the attacker's, ``d`` to ``d_end - 1`` the
defender's, or ``own`` and ``other``.
"""

from typing import Any, NamedTuple

import numpy as np

from war_envs.engine.jit import kernel
from war_envs.engine.layout import slots_per_zone
from war_envs.strategic_war.observation import HEADER_SIZE, LAYOUT
from war_envs.strategic_war.rules import BOTTOM, FIGHT, SURRENDER, TOP
from war_envs.strategic_war.views import KNOWN

_index = LAYOUT.index
_OWN_SIZE = _index("own_size")
_OTHER_SIZE = _index("other_size")
_TABLE_SIZE = _index("table_size")
_ATTACKER = _index("attacker")
_FLIPPING = (_index("phase_attack"), _index("phase_defend"))
_UNSEEN = (_index("unseen_red_0"), _index("unseen_black_0"))

_LOWEST_WORTH = 2.0
_MEAN_WORTH = 2.5
_KEEP = 0.05
_ANY_RANK = 64  # a token is a byte, so that no rank reaches this


class _View(NamedTuple):
    """What the kernels look at: one row of tokens, and sums over the unseen cards.

    ``below[c, 0, r]`` is how many unseen cards of colour c have a rank below r, ``below[c, 1, r]``
    what these are worth together.
    """

    tokens: Any
    below: Any
    num_ranks: Any
    minimal: Any


@kernel
def _rank(token: Any) -> Any:
    """The rank that a token shows; below 0 if none."""
    return (token - KNOWN) >> 2


@kernel
def _worth_of_rank(rank: Any, num_ranks: Any) -> Any:
    return _LOWEST_WORTH + rank / (num_ranks - 1)


@kernel
def _worth(view: _View, place: Any) -> Any:
    """The worth of the card at a place, expected if it is unseen."""
    token = np.int64(view.tokens[place])
    if token >= KNOWN:
        return _worth_of_rank(_rank(token), view.num_ranks)
    below = view.below[token & 1]
    count = below[0, view.num_ranks]
    return below[1, view.num_ranks] / count if count > 0.0 else _MEAN_WORTH


@kernel
def _count_unseen(view: _View) -> None:
    """Fills ``view.below``."""
    for colour in range(2):
        count = 0.0
        worth = 0.0
        for rank in range(view.num_ranks):
            view.below[colour, 0, rank] = count
            view.below[colour, 1, rank] = worth
            unseen = view.tokens[_UNSEEN[colour] + rank]
            count += unseen
            worth += unseen * _worth_of_rank(rank, view.num_ranks)
        view.below[colour, 0, view.num_ranks] = count
        view.below[colour, 1, view.num_ranks] = worth


@kernel
def _weight(view: _View, token: Any, rank: Any) -> Any:
    """How many of the cards that a token may stand for have this rank."""
    if token >= KNOWN:
        return 1.0 if _rank(token) == rank else 0.0
    return view.below[token & 1, 0, rank + 1] - view.below[token & 1, 0, rank]


@kernel
def _differ(view: _View, one: Any, other: Any) -> Any:
    """The chance that two tokens stand for different suits."""
    if (one ^ other) & 1:
        return 1.0
    if one >= KNOWN and other >= KNOWN:
        return 1.0 if (one ^ other) & 3 else 0.0
    return 0.0 if view.minimal else 0.5


@kernel
def _flips(view: _View, rank: Any, attack: Any, defence: Any) -> Any:
    """A flipped card of ``rank`` that was token ``attack`` meets the token ``defence``.

    Returns the chances that the defender wins and loses (else it is war), and the worth of the card
    that it loses times the chance.
    """
    apart = _differ(view, attack, defence)
    if defence >= KNOWN:
        answer = _rank(defence)
        if answer > rank:
            return apart, 0.0, 0.0
        if answer < rank:
            return 0.0, apart, apart * _worth_of_rank(answer, view.num_ranks)
        return 0.0, 0.0, 0.0
    below = view.below[defence & 1]
    count = below[0, view.num_ranks]
    if count == 0:
        return 0.0, 0.0, 0.0
    apart /= count
    return apart * (count - below[0, rank + 1]), apart * below[0, rank], apart * below[1, rank]


@kernel
def _chance_of_rank(view: _View, rank: Any, attack: Any, d: Any, d_end: Any) -> Any:
    """The attacker's chance with a flipped card, war counted half, if the better end answers."""
    least = 1.0
    for place in (d, d_end - 1):
        win, lose, _ = _flips(view, rank, attack, np.int64(view.tokens[place]))
        least = min(least, lose + 0.5 * (1.0 - win - lose))
    return least


@kernel
def _chance(view: _View, a: Any, a_end: Any, d: Any, d_end: Any) -> Any:
    """The attacker's chance with the better end of its hand."""
    best = 0.0
    for place in (a, a_end - 1):
        attack = np.int64(view.tokens[place])
        total = 0.0
        chance = 0.0
        for rank in range(view.num_ranks):
            weight = _weight(view, attack, rank)
            if weight > 0.0:
                total += weight
                chance += weight * _chance_of_rank(view, rank, attack, d, d_end)
        if total > 0.0:
            best = max(best, chance / total)
    return best


@kernel
def _game(view: _View) -> Any:
    """The worth of winning the game: that of the whole deck, for which each hand has slots."""
    return _MEAN_WORTH * slots_per_zone(view.tokens.shape[0], HEADER_SIZE, 3)


@kernel
def _war(
    view: _View, a: Any, a_end: Any, d: Any, d_end: Any, attackers: Any, defenders: Any
) -> Any:
    """The value to the attacker of a war over cards worth ``attackers`` and ``defenders``."""
    a_size = a_end - a
    d_size = d_end - d
    if a_size == d_size and d_size < 4:
        return 0.0  # both run out at once
    if a_size == 0 or (a_size == 1 and d_size > 1):
        return -_game(view)
    if d_size == 0 or (d_size == 1 and a_size > 1):
        return _game(view)
    attackers += _worth(view, a)
    defenders += _worth(view, d)
    if d_size < 4 or a_size < 4:  # whoever would run out surrenders
        return defenders if d_size < a_size else -attackers
    mine = attackers
    others = defenders
    for i in range(1, 4):
        mine += _worth(view, a + i)
        others += _worth(view, d + i)
    chance = _chance(view, a + 3, a_end, d + 3, d_end)
    return min(max(chance * others - (1.0 - chance) * mine, -attackers), defenders)


@kernel
def _wars(
    view: _View, a: Any, a_end: Any, d: Any, d_end: Any, attackers: Any, defenders: Any
) -> Any:
    """`_war` if the defender's top card brings it about, and if the bottom card does."""
    top = defenders + _worth(view, d)
    bottom = defenders + _worth(view, d_end - 1)
    return (
        _war(view, a, a_end, d + 1, d_end, attackers, top),
        _war(view, a, a_end, d, d_end - 1, attackers, bottom),
    )


@kernel
def _defend(
    view: _View, rank: Any, attack: Any, gain: Any, d: Any, d_end: Any, defenders: Any, wars: Any
) -> Any:
    """The end to answer a flipped card with, and its value to the defender.

    ``gain`` is what the defender wins, ``defenders`` its cards on the table, ``wars`` from `_wars`.
    """
    chosen = TOP
    best = -np.inf
    for action in (TOP, BOTTOM):
        place = d if action == TOP else d_end - 1
        win, lose, lost = _flips(view, rank, attack, np.int64(view.tokens[place]))
        loss = lose * defenders + lost if d_end - d > 1 else lose * _game(view)
        value = win * gain - loss - (1.0 - win - lose) * wars[action] - _KEEP * _worth(view, place)
        if value >= best:
            best = value
            chosen = action
    return chosen, best


@kernel
def _attack(
    view: _View, a: Any, a_end: Any, d: Any, d_end: Any, attackers: Any, defenders: Any
) -> Any:
    """The end to attack with: the one against which the best defence is worth least."""
    chosen = TOP
    least = np.inf
    last = a_end - a == 1
    for action in (TOP, BOTTOM):
        place = a if action == TOP else a_end - 1
        after = (a + 1, a_end) if action == TOP else (a, a_end - 1)
        mean = attackers + _worth(view, place)
        wars = _wars(view, after[0], after[1], d, d_end, mean, defenders)
        attack = np.int64(view.tokens[place])
        total = 0.0
        value = 0.0
        for rank in range(view.num_ranks):
            weight = _weight(view, attack, rank)
            if weight > 0.0:
                gain = attackers + _worth_of_rank(rank, view.num_ranks)
                gain = _game(view) if last else gain
                total += weight
                value += weight * _defend(view, rank, attack, gain, d, d_end, defenders, wars)[1]
        if total > 0.0 and value / total <= least:
            least = value / total
            chosen = action
    return chosen


@kernel
def _answer(
    view: _View, own: Any, own_end: Any, other: Any, other_end: Any, attacks: Any, table: Any
) -> Any:
    """FIGHT or SURRENDER, for a player with the hand ``own`` and cards worth ``table`` at stake."""
    own_size = own_end - own
    other_size = other_end - other
    if own_size == 0:
        return FIGHT  # surrendering loses as surely
    if own_size < 3 or other_size < 3:  # somebody cannot lay two more and flip a third
        return SURRENDER if own_size < other_size else FIGHT
    if attacks:
        chance = _chance(view, own + 2, own_end, other + 2, other_end)
    else:
        chance = 1.0 - _chance(view, other + 2, other_end, own + 2, own_end)
    cost = 0.0
    others = 0.0
    for i in range(3):
        cost += _worth(view, own + i)
        others += _worth(view, other + i)
    return FIGHT if chance * (table + cost + others) >= cost else SURRENDER


@kernel
def _choose(view: _View) -> Any:
    tokens = view.tokens
    slots = slots_per_zone(tokens.shape[0], HEADER_SIZE, 3)
    own = HEADER_SIZE
    other = own + slots
    table = other + slots
    own_end = own + min(np.int64(tokens[_OWN_SIZE]), slots)
    other_end = other + min(np.int64(tokens[_OTHER_SIZE]), slots)
    table_end = table + min(np.int64(tokens[_TABLE_SIZE]), slots)
    _count_unseen(view)
    attackers = 0.0
    defenders = 0.0
    for place in range(table, table_end):
        if (place - table) & 1:
            defenders += _worth(view, place)
        else:
            attackers += _worth(view, place)
    attacking = tokens[_FLIPPING[0]]
    if not (attacking or tokens[_FLIPPING[1]]):
        return _answer(
            view, own, own_end, other, other_end, tokens[_ATTACKER], attackers + defenders
        )
    if own == own_end or (attacking and other == other_end):
        return TOP  # a finished game
    if attacking:
        return _attack(view, own, own_end, other, other_end, attackers, defenders)
    attack = np.int64(tokens[table_end - 1])
    wars = _wars(view, other, other_end, own, own_end, attackers, defenders)
    gain = attackers if other_end > other else _game(view)
    return _defend(view, _rank(attack), attack, gain, own, own_end, defenders, wars)[0]


@kernel
def remember(tokens: Any, num_ranks: Any, minimal: Any, out: Any) -> None:
    """Writes the choice of `MemoryAgent` for each row of ``tokens`` (u1 (B, F)) into ``out``."""
    below = np.zeros((2, 2, _ANY_RANK))
    for i in range(tokens.shape[0]):
        out[i] = _choose(_View(tokens[i], below, num_ranks, minimal))
