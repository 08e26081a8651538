"""The scripted agents: what they choose, and that nothing but a position decides it."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.attack_defence import AttackDefence
from tests.support.decks import modes
from tests.support.envs import raw_env
from war_agents import Agent, make, scripted
from war_agents.arena import play_match
from war_envs.attack_defence.rules import ATTACK, DEFEND
from war_envs.batch import make_batch
from war_envs.strategic_war.rules import BOTTOM, FIGHT, SURRENDER, TOP
from war_envs.variant import GAMES, make_variant

ALL = [(game, name) for game in GAMES for name in scripted.names(game)]
Position = tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.uint64]]


def act(agent: Agent, position: Position) -> list[int]:
    actions, state = agent.act(*position)
    assert state is None
    assert actions.dtype == np.int64
    return [int(action) for action in actions]


def positions(game: str, number: int, *, choices: int = 25, variant: str = "minimal") -> Position:
    """Observations of running games after some random choices, their masks, and seeds."""
    batch = make_batch(game, number, variant)
    batch.reset(seed=5)
    rng = np.random.default_rng(5)
    for _ in range(choices):
        _, mask = batch.observe()
        batch.step((mask * rng.random(mask.shape)).argmax(axis=-1))
    observation, mask = batch.observe()
    seeds = rng.integers(2**64, size=2 * number, dtype=np.uint64)
    observation = observation.reshape(-1, observation.shape[-1])
    return observation[:number], mask.reshape(-1, mask.shape[-1])[:number], seeds[:number]


def choice(name: str, env: Any) -> int:
    """What an agent chooses whose turn it is in an environment."""
    seen = env.observe(env.agent_selection, encoding="tokens", memory="perfect")
    agent = make(name, game=env.variant.game, variant=env.variant)
    seed = np.zeros(1, np.uint64)
    return act(agent, (seen["observation"][None], seen["action_mask"][None], seed))[0]


def test_they_are_registered_and_what_agents_are() -> None:
    assert scripted.names("attack-defence")[:4] == ("random", "attack", "defend", "memory")
    assert scripted.names("strategic-war")[:3] == ("random", "top", "memory")
    for game, name in ALL:
        agent = make(name, game=game, variant="fair")
        assert isinstance(agent, Agent)
        assert (agent.name, agent.encoding, agent.memory) == (name, "tokens", "perfect")


# --- what all of them do ---


@pytest.mark.parametrize(("game", "name"), ALL)
def test_a_choice_is_the_same_in_any_batch_and_for_any_layout(game: str, name: str) -> None:
    agent = make(name, game=game, variant="minimal")
    observation, mask, seeds = positions(game, 300)
    together = act(agent, (observation, mask, seeds))
    assert len(set(together)) > (name in ("random", "memory"))
    rows = [slice(i, i + 1) for i in range(300)]
    assert together == [act(agent, (observation[r], mask[r], seeds[r]))[0] for r in rows]
    assert together[::-1] == act(agent, (observation[::-1], mask[::-1], seeds[::-1]))
    wide = np.repeat(observation, 2, axis=1)[:, ::2]
    assert together == act(agent, (wide, np.asfortranarray(mask), seeds))
    for array in (observation, mask, seeds):  # so that writing to them would be an error
        array.flags.writeable = False
    assert together == act(agent, (observation, mask, seeds))
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert together == act(other, (observation, mask, seeds))
    assert act(agent, (observation[:0], mask[:0], seeds[:0])) == []


@pytest.mark.parametrize(("game", "name"), ALL)
def test_the_only_legal_action_is_taken(game: str, name: str) -> None:
    agent = make(name, game=game, variant="minimal")
    observation, mask, seeds = positions(game, 100)
    for action in range(mask.shape[1]):
        only = np.zeros_like(mask)
        only[:, action] = 1
        assert act(agent, (observation, only, seeds)) == [action] * 100


@pytest.mark.parametrize(("game", "name"), ALL)
def test_what_is_no_position_is_refused(game: str, name: str) -> None:
    agent = make(name, game=game, variant="minimal")
    good = positions(game, 4)
    observation, mask, seeds = good
    empty = mask.copy()
    empty[2] = 0
    wrong: list[tuple[str, int, Any]] = [
        ("action_mask: row 2 has no legal action", 1, empty),
        ("observation", 0, observation.astype(np.float32)),
        ("observation", 0, observation[:, 1:]),
        ("observation", 0, observation[0]),
        ("action_mask", 1, mask[:3]),
        ("action_mask", 1, mask[:, 1:]),
        ("action_mask", 1, mask.astype(np.float32)),
        ("seeds", 2, seeds[:3]),
        ("seeds", 2, seeds.astype(np.int64)),
    ]
    for what, place, array in wrong:
        arguments: list[Any] = list(good)
        arguments[place] = array
        with pytest.raises(ValueError, match=what):
            agent.act(*arguments)


@pytest.mark.parametrize(("game", "name"), ALL)
def test_bytes_that_are_no_observation_do_no_harm(game: str, name: str) -> None:
    agent = make(name, game=game)
    observation, mask, seeds = positions(game, 2000, variant="standard")
    noise = np.random.default_rng(1).integers(256, size=observation.shape, dtype=np.uint8)
    chosen = act(agent, (noise, mask, seeds))
    assert mask[np.arange(2000), chosen].all()


@pytest.mark.parametrize("game", GAMES)
def test_random_draws_every_legal_action_alike_from_its_seed(game: str) -> None:
    agent = make("random", game=game, variant="minimal")
    number = 30_000
    observation = np.zeros((number, len(positions(game, 1)[0][0])), np.uint8)
    seeds = np.arange(number, dtype=np.uint64)
    num_actions = 2 if game == "attack-defence" else 4
    for bits in range(1, 2**num_actions):
        row = [bits >> action & 1 for action in range(num_actions)]
        mask = np.tile(np.array(row, np.int8), (number, 1))
        chosen = act(agent, (observation, mask, seeds))
        assert chosen == act(agent, (observation + 1, mask, seeds))
        share = np.bincount(chosen, minlength=num_actions) / number
        assert np.abs(share - np.array(row) / sum(row)).max() < 0.01
        assert chosen != act(agent, (observation, mask, seeds + 1)) or sum(row) == 1


@pytest.mark.parametrize(
    ("game", "name", "order"),
    [
        ("attack-defence", "attack", (ATTACK, DEFEND)),
        ("attack-defence", "defend", (DEFEND, ATTACK)),
        ("strategic-war", "top", (TOP, FIGHT)),
    ],
)
def test_simple_ones(game: str, name: str, order: tuple[int, int]) -> None:
    observation, mask, seeds = positions(game, 400)
    expected = [order[0] if row[order[0]] else order[1] for row in mask]
    assert act(make(name, game=game, variant="minimal"), (observation, mask, seeds)) == expected


# --- the one that remembers, Attack and Defence ---

OPEN = {"open_cards": True}
AD_POSITIONS = [
    # own hand, other hand, options, choice: the other top card is known
    ("7H", "3S", OPEN, ATTACK),
    ("7H", "AS", OPEN, ATTACK),  # six ranks before
    ("7H", "KS", OPEN, DEFEND),  # six ranks after
    ("AH", "KS", OPEN, ATTACK),  # the cycle closes
    ("AH", "7S", OPEN, DEFEND),
    ("7H", "7S", OPEN, DEFEND),  # a tie goes to the defender
    ("3H", "AS", {**OPEN, "num_ranks": 5}, ATTACK),
    ("3H", "5S", {**OPEN, "num_ranks": 5}, DEFEND),
    ("AH", "4S", {**OPEN, "num_ranks": 5}, ATTACK),
    # unknown: the cards that the own one beats against those that beat it, wherever they lie
    ("7H", "3S 2D", {}, ATTACK),
    ("7H", "8S 9D", {}, DEFEND),
    ("7H", "3S 9D", {}, DEFEND),  # as many
    ("7H", "3S 7D", {}, ATTACK),  # equal ranks count for neither
    ("7H 8C 8D", "3S 2D", {}, DEFEND),
    ("7H 8C 2C", "3S 9D", {}, DEFEND),
    ("7H 6C 2C", "9S 9D", {}, DEFEND),
    ("7H 6C 2C 3C", "9S 9D", {}, ATTACK),
    # one of Fair's twins is seen: the other player's top card is known to be equal
    ("7H 2H 3H", "7S 2S 3S", {"fair": True}, DEFEND),
]


@pytest.mark.parametrize(("own", "other", "options", "expected"), AD_POSITIONS)
@pytest.mark.parametrize("seat", [0, 1])
def test_memory_attacks_when_its_card_will_probably_win(
    own: str, other: str, options: dict[str, Any], expected: int, seat: int
) -> None:
    env = raw_env("attack-defence", **options)
    hands = [own.split(), other.split()]
    env.reset(seed=0, options={"hands": hands if seat == 0 else hands[::-1]})
    if seat:
        env.step(ATTACK)  # which player_1 does not see
    assert choice("memory", env) == expected


@pytest.mark.parametrize("options", modes(), ids=str)
def test_memory_follows_its_rule_through_whole_games(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    cases: set[tuple[bool, int]] = set()
    for game in range(6):
        env = raw_env("attack-defence", **options, num_ranks=9)
        env.reset(seed=game)
        plain = AttackDefence(env.hands, **options, num_ranks=9, max_turns=10**6)
        for _ in range(60):
            if plain.winner is not None:
                break
            actions = [int(action) for action in rng.integers(2, size=2)]
            for viewer in range(2):
                against, known = cards_against(plain, viewer)
                own = plain.hands[viewer][0]
                ahead = sum(plain.beats(own, c) - plain.beats(c, own) for c in against)
                expected = ATTACK if ahead > 0 else DEFEND
                assert choice("memory", env) == expected
                cases.add((known, expected))
                env.step(actions[viewer])
            plain.play(actions[0], actions[1])
    hidden = not (options["open_cards"] or options["fair"])
    assert len(cases) == (4 if hidden else 2)


def cards_against(plain: AttackDefence, viewer: int) -> tuple[list[str], bool]:
    """The other's top card if the viewer knows it, else all that it does not know; and which."""
    known = plain.known(viewer)
    if known[1 - viewer][0]:
        return [plain.hands[1 - viewer][0]], True
    both = zip(plain.hands[0] + plain.hands[1], known[0] + known[1], strict=True)
    return [card for card, face in both if not face], False


# --- the one that remembers, Strategic War ---


def war(hands: tuple[str, str], *actions: int, **options: Any) -> Any:
    """A game from these hands, player_0 attacking, after some choices."""
    env = raw_env("strategic-war", **options)
    given = {"hands": tuple(hand.split() for hand in hands), "first_attacker": 0}
    env.reset(seed=0, options=given)
    for action in actions:
        env.step(action)
    return env


@pytest.mark.parametrize(
    ("attacker", "defender", "expected"),
    [
        ("9H 2H 2D", "KS 2S TS", BOTTOM),  # both win: the cheaper
        ("9H 2H 2D", "TS 2S KS", TOP),
        ("9H 2H 2D", "8S 2S TS", BOTTOM),  # one wins
        ("9H 2H 2D", "TC 2S AH", TOP),  # the other is of the same suit, and that is war
        ("9H 2H 2D", "8S 2S 3S", BOTTOM),  # none wins: the cheaper is lost
        ("9H 2H 2D", "3S 2S 8S", TOP),
        ("9H 2H 3H 4H 2D 3D", "5S KS QS AS KC 9S", BOTTOM),  # better a war that will be won
        ("9H KH QH AH KD AD", "5S 2S 3S 4S 6S 9S", TOP),  # than a loss, and a loss than another
        ("9H 2H 2D", "5S", TOP),
    ],
)
def test_memory_defends_with_the_cheapest_winning_end(
    attacker: str, defender: str, expected: int
) -> None:
    env = war((attacker, defender), TOP, open_cards=True)
    assert env.agent_selection == "player_1"
    assert choice("memory", env) == expected


@pytest.mark.parametrize(
    ("attacker", "defender", "expected"),
    [
        ("KH 5H 2H", "TS 3S 9S", TOP),  # wins
        ("2H 5H KH", "TS 3S 9S", BOTTOM),
        ("9H 5H 4H", "AS 3S 2S", BOTTOM),  # the defender can answer both: lose the cheaper
        ("4H 5H 9H", "AS 3S 2S", TOP),
        ("KS 5H JH", "TS 3S 9S", BOTTOM),  # the king would be war, with whatever end
        ("2H", "3S 4S", TOP),
    ],
)
def test_memory_attacks_with_the_better_end(attacker: str, defender: str, expected: int) -> None:
    env = war((attacker, defender), open_cards=True)
    assert choice("memory", env) == expected


@pytest.mark.parametrize(
    ("attacker", "defender", "expected"),
    [
        ("AH TH JH QH", "2D 7S 8S 9S", TOP),  # anything unseen is better than a 2
        ("AH 3H 4H 5H", "KD 7S 8S 9S", BOTTOM),  # a king is better than 3, 4 or 5
    ],
)
def test_memory_reckons_with_unseen_cards(attacker: str, defender: str, expected: int) -> None:
    # player_0 wins a flip, so that its bottom card is known and its top card is not.
    env = war((attacker, defender), TOP, TOP)
    assert env.agent_selection == "player_0"
    known = env.known("player_0")[0]
    assert (known[0], known[-1]) == (False, True)
    assert choice("memory", env) == expected


@pytest.mark.parametrize(
    ("attacker", "defender", "expected"),
    [
        # 9H and 9S were flipped, a card face down from each; two more follow, then a flip.
        ("9H 2H KH QH AH 3H", "9S 2S TS JS 3S 4S", SURRENDER),  # the ace will win all
        ("9H 2H KH QH 3H 4H", "9S 2S 5S 5C AS 6S", FIGHT),  # and here it is the own one
        ("9H 2H KH QH 3H 4H", "9S 2S", FIGHT),  # nothing is left to lose
        ("9H 2H KH QH 3H 4H", "9S 2S AS AC", SURRENDER),  # it could not flip a third card
        ("9H 2H KH", "9S 2S AS AC 5S 6S", FIGHT),  # here the other could not
    ],
)
def test_memory_surrenders_a_war_that_it_will_lose(
    attacker: str, defender: str, expected: int
) -> None:
    env = war((attacker, defender), TOP, TOP, open_cards=True)
    assert env.agent_selection == "player_1"
    assert env.observe("player_1")["action_mask"].tolist() == [0, 0, 1, 1]
    assert choice("memory", env) == expected


def test_memory_gives_up_a_small_table_but_not_a_large_one() -> None:
    # Of the unseen black cards two are aces, which alone beat the red ones: a chance of about 1/4.
    hands = "9H KH KD QH 8H QD JH JD TH TD", "9S 2S 2C 3S 8S 3C 4S 4C AS AC"
    first = war(hands, TOP, TOP)
    assert first.agent_selection == "player_1"
    # 4 cards lie there, 6 more may follow: 0.23 * (10.0 + 6.8 + 8.3) < 6.8
    assert choice("memory", first) == SURRENDER
    second = war(hands, TOP, TOP, FIGHT, FIGHT, TOP, TOP)
    assert second.agent_selection == "player_1"
    # 12 cards lie there: 0.25 * (30.0 + 7.0 + 8.4) > 7.0
    assert choice("memory", second) == FIGHT


# --- how strong ---


@pytest.mark.parametrize(
    ("game", "variant", "other", "least"),
    [
        ("attack-defence", "minimal", "random", 0.97),
        ("attack-defence", "minimal", "attack", 0.95),
        ("attack-defence", "minimal", "defend", 0.97),
        ("attack-defence", "fair", "random", 0.97),
        ("strategic-war", "minimal", "random", 0.88),
        ("strategic-war", "minimal", "top", 0.72),
        ("strategic-war", "standard", "top", 0.9),
        ("strategic-war", "minimal+fair", "top", 0.75),
        ("strategic-war", "minimal+open-card", "top", 0.9),
    ],
)
def test_memory_beats_the_others(game: str, variant: str, other: str, least: float) -> None:
    result = play_match("memory", other, game=game, variant=variant, deals=300, seed=2)
    assert result.low > least


def test_memory_loses_to_nobody_in_a_tiny_deck() -> None:
    for game in GAMES:
        variant = make_variant(game, num_ranks=5)
        for other in scripted.names(game):
            result = play_match("memory", other, game=game, variant=variant, deals=200, seed=2)
            assert result.high >= 0.5
