"""The reference against the recorded games, and against positions made by hand."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.reference.attack_defence import ATTACK, DEFEND, AttackDefence
from tests.reference.cards import colour, deck, twin
from tests.reference.strategic_war import BOTTOM, FIGHT, SURRENDER, TOP, StrategicWar

PLAYTHROUGHS = Path(__file__).parent / "playthroughs"
NO_LIMIT = 1_000_000


def recordings(name: str) -> list[Any]:
    lines = (PLAYTHROUGHS / name).read_text(encoding="utf-8").splitlines()
    games = [json.loads(line) for line in lines]
    return [pytest.param(game, id=str(number)) for number, game in enumerate(games)]


def bits(flags: list[bool]) -> str:
    return "".join("1" if flag else "0" for flag in flags)


def cards(text: str) -> list[str]:
    return text.split()


# --- the recorded games ---


@pytest.mark.parametrize("record", recordings("attack_defence.jsonl"))
def test_recorded_attack_defence(record: dict[str, Any]) -> None:
    assert set(record) == {
        "game",
        "minimal",
        "fair",
        "open_cards",
        "num_ranks",
        "own_card",
        "hands",
        "known_at_start",
        "actions",
        "hands_after_turn",
        "known_after_turn",
        "winner",
        "turns",
    }
    assert record["game"] == "attack-defence"
    game = AttackDefence(
        (cards(record["hands"][0]), cards(record["hands"][1])),
        minimal=record["minimal"],
        fair=record["fair"],
        open_cards=record["open_cards"],
        num_ranks=record["num_ranks"],
        max_turns=NO_LIMIT,
        own_card=record["own_card"],
    )
    in_play = deck("attack-defence", record["minimal"], record["num_ranks"])
    assert sorted(game.hands[0] + game.hands[1]) == sorted(in_play)

    def known_now() -> list[list[str]]:
        return [[bits(hand) for hand in game.known(viewer)] for viewer in (0, 1)]

    assert known_now() == record["known_at_start"]
    checked_hands = 0
    checked_known = 0
    for turn, pair in enumerate(cards(record["actions"]), start=1):
        assert game.legal(0) == game.legal(1) == [ATTACK, DEFEND]
        assert game.rewards() == (0, 0)
        game.play("AD".index(pair[0]), "AD".index(pair[1]))
        assert game.turn == turn
        assert sorted(game.hands[0] + game.hands[1]) == sorted(in_play)
        if str(turn) in record["hands_after_turn"]:
            assert [" ".join(hand) for hand in game.hands] == record["hands_after_turn"][str(turn)]
            checked_hands += 1
        if str(turn) in record["known_after_turn"]:
            assert known_now() == record["known_after_turn"][str(turn)]
            checked_known += 1
    assert checked_hands == len(record["hands_after_turn"])
    assert checked_known == len(record["known_after_turn"])

    assert game.turn == record["turns"]
    assert game.winner == record["winner"]
    assert game.over == (record["winner"] is not None)
    assert not game.truncated
    if game.over:
        assert game.rewards()[record["winner"]] == 1
        assert game.rewards()[1 - record["winner"]] == -1
        assert game.legal(0) == game.legal(1) == []
    else:
        assert game.rewards() == (0, 0)


@pytest.mark.parametrize("record", recordings("strategic_war.jsonl"))
def test_recorded_strategic_war(record: dict[str, Any]) -> None:
    assert set(record) == {
        "game",
        "minimal",
        "fair",
        "open_cards",
        "num_ranks",
        "hands",
        "first_attacker",
        "movers",
        "legal",
        "actions",
        "hands_after_round",
        "known_after_round",
        "winner",
        "rounds",
    }
    assert record["game"] == "strategic-war"
    game = StrategicWar(
        (cards(record["hands"][0]), cards(record["hands"][1])),
        first_attacker=record["first_attacker"],
        minimal=record["minimal"],
        fair=record["fair"],
        open_cards=record["open_cards"],
        num_ranks=record["num_ranks"],
        max_turns=NO_LIMIT,
    )
    in_play = deck("strategic-war", record["minimal"], record["num_ranks"])
    legal = cards(record["legal"])
    assert len(record["movers"]) == len(legal) == len(record["actions"])

    checked_hands = 0
    checked_known = 0
    rounds = 0
    for mover, mask, action in zip(record["movers"], legal, record["actions"], strict=True):
        assert str(game.mover) == mover
        assert "".join(str(choice) for choice in game.legal()) == mask
        assert game.rewards() == (0, 0)
        game.play("TBFS".index(action))
        table = [card for card, _, _ in game.table]
        assert sorted(game.hands[0] + game.hands[1] + table) == sorted(in_play)
        if game.turn == rounds:
            continue
        rounds += 1
        assert game.turn == rounds
        assert game.table == []
        if str(rounds) in record["hands_after_round"]:
            hands = [" ".join(hand) for hand in game.hands]
            assert hands == record["hands_after_round"][str(rounds)]
            checked_hands += 1
        if str(rounds) in record["known_after_round"]:
            known = [bits(hand) for hand in game.known()]
            assert known == record["known_after_round"][str(rounds)]
            checked_known += 1
    assert checked_hands == len(record["hands_after_round"])
    assert checked_known == len(record["known_after_round"])

    assert game.turn == record["rounds"]
    assert not game.truncated
    if record["winner"] is None:
        assert not game.over
        assert game.winner is None
        assert game.rewards() == (0, 0)
    elif record["winner"] == "tie":
        assert game.over
        assert game.winner is None
        assert game.rewards() == (0, 0)
    else:
        assert game.over
        assert game.winner == record["winner"]
        assert game.rewards()[record["winner"]] == 1
        assert game.rewards()[1 - record["winner"]] == -1
    if game.over:
        assert game.legal() == []


# --- War of Attack and Defence, by hand ---


def attack_defence(first: str, second: str, **options: Any) -> AttackDefence:
    options.setdefault("max_turns", NO_LIMIT)
    return AttackDefence((cards(first), cards(second)), **options)


@pytest.mark.parametrize(
    ("card", "beaten"),
    [("7H", "A23456"), ("AH", "89TJQK"), ("KH", "789TJQ"), ("2H", "9TJQKA")],
)
def test_a_card_beats_the_six_before_it(card: str, beaten: str) -> None:
    game = attack_defence("2S", "3S")
    for other in deck("attack-defence", minimal=True):
        assert game.beats(card, other) == (other[0] in beaten)


def test_a_shorter_cycle() -> None:
    game = attack_defence("2S", "3S", num_ranks=5)
    # A 2 3 4 5: each beats the two before it.
    assert [other for other in "A2345" if game.beats("AS", other + "D")] == ["4", "5"]
    assert [other for other in "A2345" if game.beats("3S", other + "D")] == ["A", "2"]
    assert [other for other in "A2345" if game.beats("5S", other + "D")] == ["3", "4"]


def test_both_attack_the_higher_takes_two() -> None:
    game = attack_defence("9H 2H", "5S KS AS")
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("2H KS 5S 9H"), cards("AS")]
    assert game.last == {
        "actions": (ATTACK, ATTACK),
        "cards": ("9H", "5S"),
        "extra": "KS",
        "outcome": "won",
        "winner": 0,
        "collected": (cards("KS 5S 9H"), []),
    }
    # Both have seen the extra card; player 0 does not know the ace, player 1 does not know the 2.
    assert [bits(hand) for hand in game.known(0)] == ["1111", "0"]
    assert [bits(hand) for hand in game.known(1)] == ["0111", "1"]


def test_both_attack_and_the_second_player_wins() -> None:
    game = attack_defence("5S KS AS", "9H 2H")
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("AS"), cards("2H KS 5S 9H")]
    assert game.last["winner"] == 1
    assert game.last["collected"] == ([], cards("KS 5S 9H"))


def test_own_card_first() -> None:
    game = attack_defence("9H 2H", "5S KS AS", own_card="first")
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("2H 9H 5S KS"), cards("AS")]
    game.play(DEFEND, ATTACK)
    # The ace is beaten by the 2.
    assert game.hands == [cards("9H 5S KS 2H AS"), []]
    assert game.winner == 0


def test_both_attack_and_the_loser_holds_no_second_card() -> None:
    game = attack_defence("9H 2H", "5S")
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("2H 5S 9H"), []]
    assert game.last["extra"] is None
    assert game.last["collected"] == (cards("5S 9H"), [])
    assert game.over
    assert not game.truncated
    assert game.winner == 0
    assert game.rewards() == (1, -1)
    assert game.legal(0) == game.legal(1) == []
    # No turn starts after the last one, so player 0 has not looked at the 2.
    assert [bits(hand) for hand in game.known(0)] == ["011", ""]
    assert [bits(hand) for hand in game.known(1)] == ["011", ""]
    with pytest.raises(ValueError, match="illegal"):
        game.play(ATTACK, ATTACK)


def test_the_loser_of_two_attacks_may_lose_their_last_two_cards() -> None:
    game = attack_defence("5S AS", "9H 2H")
    game.play(ATTACK, ATTACK)
    assert game.hands == [[], cards("2H AS 5S 9H")]
    assert game.winner == 1
    assert game.rewards() == (-1, 1)


def test_both_attack_and_tie() -> None:
    game = attack_defence("5S AS", "5H 2H")
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("AS 5S"), cards("2H 5H")]
    assert game.last["outcome"] == "tie"
    assert game.last["winner"] is None
    assert game.last["extra"] is None


@pytest.mark.parametrize(
    ("actions", "winner"), [((ATTACK, DEFEND), 1), ((DEFEND, ATTACK), 0)], ids=["AD", "DA"]
)
def test_one_attacks_and_the_defender_wins_a_tie(actions: tuple[int, int], winner: int) -> None:
    game = attack_defence("5S AS", "5H 2H")
    game.play(*actions)
    assert game.last["winner"] == winner
    if winner == 0:
        assert game.hands == [cards("AS 5H 5S"), cards("2H")]
    else:
        assert game.hands == [cards("AS"), cards("2H 5S 5H")]


@pytest.mark.parametrize("actions", [(ATTACK, DEFEND), (DEFEND, ATTACK)], ids=["AD", "DA"])
def test_one_attacks_and_the_higher_takes_one_whoever_attacked(actions: tuple[int, int]) -> None:
    game = attack_defence("5S AS", "6H 2H")
    game.play(*actions)
    assert game.hands == [cards("AS"), cards("2H 5S 6H")]
    assert game.last["extra"] is None
    game = attack_defence("6H 2H", "5S AS")
    game.play(*actions)
    assert game.hands == [cards("2H 5S 6H"), cards("AS")]


def test_both_defend_and_swap() -> None:
    game = attack_defence("5S", "6H 2H")
    game.play(DEFEND, DEFEND)
    assert game.hands == [cards("6H"), cards("2H 5S")]
    assert game.last["outcome"] == "swap"
    assert game.last["winner"] is None
    assert game.last["collected"] == (cards("6H"), cards("5S"))
    assert not game.over


def test_attack_defence_is_truncated() -> None:
    game = attack_defence("5S AS", "6H 2H", max_turns=2)
    game.play(DEFEND, DEFEND)
    assert (game.over, game.truncated) == (False, False)
    # Player 1 does not know the ace yet, and player 0 does not know the 2.
    assert [bits(hand) for hand in game.known(0)] == ["11", "01"]
    assert [bits(hand) for hand in game.known(1)] == ["01", "11"]
    game.play(DEFEND, DEFEND)
    assert (game.over, game.truncated) == (True, True)
    assert game.winner is None
    assert game.rewards() == (0, 0)
    assert game.legal(0) == []


def test_nobody_looks_at_their_top_card_after_a_truncation() -> None:
    game = attack_defence("5S AS", "6H 2H", max_turns=1)
    game.play(DEFEND, DEFEND)
    assert game.truncated
    assert [bits(hand) for hand in game.known(0)] == ["01", "01"]
    assert [bits(hand) for hand in game.known(1)] == ["01", "01"]


def test_attack_defence_really_ends_on_the_turn_of_the_limit() -> None:
    game = attack_defence("5S", "6H 2H", max_turns=1)
    game.play(ATTACK, DEFEND)
    assert game.over
    assert not game.truncated
    assert game.winner == 1


def test_twins_tell_in_a_fair_deal_whoever_holds_the_red_half() -> None:
    red = cards("2H AD 3H AH 2D 3D")
    black = [twin(card) for card in red]
    for hands in ((red, black), (black, red)):
        game = AttackDefence(hands, fair=True, num_ranks=3, max_turns=NO_LIMIT)
        for viewer in (0, 1):
            assert [bits(hand) for hand in game.known(viewer)] == ["100000", "100000"]
        game.play(DEFEND, ATTACK)
        # Player 0 took the card and now holds both twos; the aces are up.
        assert game.hands[0][-2:] == [hands[1][0], hands[0][0]]
        for viewer in (0, 1):
            assert [bits(hand) for hand in game.known(viewer)] == ["1000011", "10000"]


def test_an_extra_card_tells_its_twin_too() -> None:
    # After a real Fair deal every dealt card has been seen before an extra one can be taken.
    game = attack_defence("9H 2H KH", "5S KS AS", fair=True, fair_deal=True)
    game.play(ATTACK, ATTACK)
    assert game.hands == [cards("2H KH KS 5S 9H"), cards("AS")]
    assert [bits(hand) for hand in game.known(0)] == ["11111", "0"]
    assert [bits(hand) for hand in game.known(1)] == ["01111", "1"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("AH 2H 3H", "AS 3S 2S"),  # another order
        ("AH 2S 3H", "AS 2H 3S"),  # not one colour a hand
        ("AH 2H 3H", "3S 2S AS"),
    ],
)
def test_other_hands_draw_no_twin_inference(first: str, second: str) -> None:
    game = attack_defence(first, second, minimal=True, fair=True, num_ranks=3)
    unknown = "0" * (len(cards(first)) - 1)
    assert [bits(hand) for hand in game.known(0)] == ["1" + unknown, "0" + unknown]
    assert [bits(hand) for hand in game.known(1)] == ["0" + unknown, "1" + unknown]


def test_hands_that_repeat_each_other_are_a_fair_deal_whatever_their_size() -> None:
    game = attack_defence("AH 2H", "AS 2S", fair=True)
    assert bits(game.known(0)[1]) == "10"


def test_twins_tell_nothing_without_fair_mode_and_can_be_set() -> None:
    game = attack_defence("AH 2H 3H", "AS 2S 3S", minimal=True, num_ranks=3)
    assert bits(game.known(0)[1]) == "000"
    game = attack_defence("AH 2H", "AS 2S", fair=True, fair_deal=True)
    assert bits(game.known(0)[1]) == "10"
    game = attack_defence(
        "AH 2H 3H", "AS 2S 3S", minimal=True, num_ranks=3, fair=True, fair_deal=False
    )
    assert bits(game.known(0)[1]) == "000"


def test_attack_defence_open_cards() -> None:
    game = attack_defence("5S AS", "6H 2H", open_cards=True)
    assert game.known(0) == game.known(1) == ([True, True], [True, True])


# --- Strategic War, by hand ---


def strategic_war(first: str, second: str, **options: Any) -> StrategicWar:
    options.setdefault("first_attacker", 0)
    options.setdefault("max_turns", NO_LIMIT)
    return StrategicWar((cards(first), cards(second)), **options)


def test_a_round() -> None:
    game = strategic_war("5H 8H AH", "9S 2S")
    assert (game.mover, game.phase, game.legal()) == (0, "attack", [TOP, BOTTOM])
    game.play(BOTTOM)
    assert (game.mover, game.phase, game.legal()) == (1, "defend", [TOP, BOTTOM])
    assert game.table == [("AH", True, 0)]
    assert game.known_table() == [True]
    assert game.known() == ([False, False], [False, False])
    game.play(TOP)
    # The ace is the highest here, and the winner's card comes first.
    assert game.hands == [cards("5H 8H AH 9S"), cards("2S")]
    assert game.table == []
    assert game.turn == 1
    assert [bits(hand) for hand in game.known()] == ["0011", "0"]
    assert (game.attacker, game.mover, game.phase) == (0, 0, "attack")


def test_the_winner_attacks_next() -> None:
    game = strategic_war("5H 8H AH", "9S 2S")
    game.play(TOP)
    game.play(TOP)
    assert game.hands == [cards("8H AH"), cards("2S 9S 5H")]
    assert (game.attacker, game.mover, game.phase) == (1, 1, "attack")


def test_one_card_left_is_a_top_card() -> None:
    game = strategic_war("5H", "9S 2S")
    assert game.legal() == [TOP]
    with pytest.raises(ValueError, match="illegal"):
        game.play(BOTTOM)
    game.play(TOP)
    assert game.legal() == [TOP, BOTTOM]
    game.play(BOTTOM)
    assert game.hands == [cards("5H 2S"), cards("9S")]
    game.play(TOP)
    assert game.legal() == [TOP]


def test_a_player_left_with_no_cards_has_lost() -> None:
    game = strategic_war("5H", "9S 2S")
    game.play(TOP)
    game.play(TOP)
    assert game.over
    assert game.winner == 1
    assert game.rewards() == (-1, 1)
    assert game.turn == 1
    assert game.legal() == []
    with pytest.raises(ValueError, match="illegal"):
        game.play(TOP)


def test_equal_suits_are_a_war_too() -> None:
    game = strategic_war("2H 4S 3C", "9H 5S 6D")
    game.play(TOP)
    game.play(TOP)
    assert game.phase == "defender-surrender"
    assert game.table == [("2H", True, 0), ("9H", True, 1), ("4S", False, 0), ("5S", False, 1)]
    assert game.known_table() == [True, True, False, False]
    assert game.mover == 1
    assert game.legal() == [FIGHT, SURRENDER]


def test_a_war_collected() -> None:
    game = strategic_war("5H 2H 3H 4H 6H KH", "5S 2S 3S 4S 9S 6S QS", first_attacker=1)
    for action in (TOP, TOP, FIGHT, FIGHT):
        game.play(action)
    assert game.table == [
        ("5S", True, 1),
        ("5H", True, 0),
        ("2S", False, 1),
        ("2H", False, 0),
        ("3S", False, 1),
        ("3H", False, 0),
        ("4S", False, 1),
        ("4H", False, 0),
    ]
    assert (game.phase, game.mover) == ("attack", 1)
    game.play(TOP)
    assert (game.phase, game.mover) == ("defend", 0)
    game.play(TOP)
    # Face down as laid, the attacker's before the defender's; then the flipped ones from high to
    # low, the two fives as they were flipped.
    assert game.hands == [cards("KH"), cards("6S QS 2S 2H 3S 3H 4S 4H 9S 6H 5S 5H")]
    assert game.turn == 1
    assert (game.attacker, game.mover) == (1, 1)
    assert bits(game.known()[1]) == "000000001111"


def test_a_war_that_goes_on_keeps_its_attacker() -> None:
    game = strategic_war("5H 2H 3H 4H 6H 7H 8H", "5S 2S 3S 4S 6S 7S", first_attacker=0)
    for action in (TOP, TOP, FIGHT, FIGHT, TOP, TOP):
        game.play(action)
    assert (game.phase, game.attacker, game.mover) == ("defender-surrender", 0, 1)
    assert game.table[-4:] == [
        ("6H", True, 0),
        ("6S", True, 1),
        ("7H", False, 0),
        ("7S", False, 1),
    ]
    game.play(FIGHT)
    assert (game.phase, game.mover) == ("attacker-surrender", 0)
    assert game.legal() == [FIGHT, SURRENDER]
    game.play(SURRENDER)
    # The defender has won, though their hand was empty, and attacks next.
    assert game.hands == [cards("8H"), cards("2H 2S 3H 3S 4H 4S 7H 7S 6H 6S 5H 5S")]
    assert game.turn == 1
    assert not game.over
    assert (game.phase, game.attacker, game.mover) == ("attack", 1, 1)


def test_equal_ranks_are_collected_as_flipped_even_from_different_flips() -> None:
    # Two nines are flipped first, then a third nine against a ten.
    game = strategic_war("9H 2H 3H 4H TD", "9S 2S 3S 4S 9C 5S")
    for action in (TOP, TOP, FIGHT, FIGHT, TOP, TOP):
        game.play(action)
    assert game.hands == [cards("2H 2S 3H 3S 4H 4S TD 9H 9S 9C"), cards("5S")]


def test_the_bottom_card_may_be_flipped_in_a_war() -> None:
    game = strategic_war("5H 2H 3H 4H 6H 7H", "5S 2S 3S 4S 6S AS")
    for action in (TOP, TOP, FIGHT, FIGHT, TOP, BOTTOM):
        game.play(action)
    assert game.hands == [cards("7H"), cards("6S 2H 2S 3H 3S 4H 4S AS 6H 5H 5S")]


def test_both_out_of_cards_at_the_first_lay_down_is_a_tie() -> None:
    game = strategic_war("5H", "5S")
    game.play(TOP)
    game.play(TOP)
    assert game.over
    assert not game.truncated
    assert game.winner is None
    assert game.rewards() == (0, 0)
    assert game.legal() == []
    # The war was never collected.
    assert game.turn == 0
    assert game.table == [("5H", True, 0), ("5S", True, 1)]


@pytest.mark.parametrize("first_attacker", [0, 1])
def test_out_of_cards_at_the_first_lay_down(first_attacker: int) -> None:
    game = strategic_war("5H", "5S 2S", first_attacker=first_attacker)
    game.play(TOP)
    game.play(TOP)
    assert game.over
    assert game.winner == 1
    assert game.turn == 0
    assert game.hands == [[], cards("2S")]


@pytest.mark.parametrize("first_attacker", [0, 1])
@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ("5H 2H", "5S 2S", None),  # both out at the second lay-down
        ("5H 2H 3H", "5S 2S 3S", None),  # both at the third
        ("5H 2H 3H 4H", "5S 2S 3S 4S", None),  # both before the flip
        ("5H 2H", "5S 2S 3S", 1),
        ("5H 2H 3H", "5S 2S", 0),
        ("5H 2H 3H", "5S 2S 3S 4S", 1),
        ("5H 2H 3H 4H", "5S 2S 3S", 0),
        ("5H 2H 3H 4H", "5S 2S 3S 4S 6S", 1),
        ("5H 2H 3H 4H 6H", "5S 2S 3S 4S", 0),
    ],
)
def test_out_of_cards_later_in_a_war(
    first: str, second: str, winner: int | None, first_attacker: int
) -> None:
    game = strategic_war(first, second, first_attacker=first_attacker)
    for action in (TOP, TOP, FIGHT):
        game.play(action)
        assert not game.over
    assert (game.phase, game.mover) == ("attacker-surrender", first_attacker)
    game.play(FIGHT)
    assert game.over
    assert not game.truncated
    assert game.winner == winner
    assert game.turn == 0
    assert game.legal() == []


def test_a_step_that_somebody_cannot_make_moves_no_card() -> None:
    game = strategic_war("5H 2H 3H", "5S 2S 3S 4S")
    for action in (TOP, TOP, FIGHT, FIGHT):
        game.play(action)
    assert game.winner == 1
    assert game.hands == [[], cards("4S")]
    assert len(game.table) == 6


def test_the_last_card_each_decides_a_war() -> None:
    game = strategic_war("5H 2H 3H 4H 6H", "5S 2S 3S 4S 7S")
    for action in (TOP, TOP, FIGHT, FIGHT):
        game.play(action)
    assert game.legal() == [TOP]
    game.play(TOP)
    assert game.legal() == [TOP]
    game.play(TOP)
    assert game.hands == [[], cards("2H 2S 3H 3S 4H 4S 7S 6H 5H 5S")]
    assert game.winner == 1
    assert game.turn == 1


@pytest.mark.parametrize("attacker", [0, 1])
def test_a_defender_with_an_empty_hand_is_asked_and_surrenders(attacker: int) -> None:
    game = strategic_war("5H 2H", "5S 2S", first_attacker=attacker)
    game.play(TOP)
    game.play(TOP)
    assert game.hands == [[], []]
    assert (game.phase, game.mover) == ("defender-surrender", 1 - attacker)
    assert game.legal() == [FIGHT, SURRENDER]
    game.play(SURRENDER)
    collected = cards("2H 2S 5H 5S") if attacker == 0 else cards("2S 2H 5S 5H")
    assert game.hands[attacker] == collected
    assert game.hands[1 - attacker] == []
    assert game.over
    assert game.winner == attacker
    assert game.turn == 1


@pytest.mark.parametrize("attacker", [0, 1])
def test_an_attacker_with_an_empty_hand_is_asked_and_surrenders(attacker: int) -> None:
    game = strategic_war("5H 2H", "5S 2S", first_attacker=attacker)
    for action in (TOP, TOP, FIGHT):
        game.play(action)
    assert (game.phase, game.mover) == ("attacker-surrender", attacker)
    assert game.legal() == [FIGHT, SURRENDER]
    game.play(SURRENDER)
    collected = cards("2H 2S 5H 5S") if attacker == 0 else cards("2S 2H 5S 5H")
    assert game.hands[1 - attacker] == collected
    assert game.hands[attacker] == []
    assert game.winner == 1 - attacker


def test_a_surrender_is_collected_by_the_other_player_whatever_the_ranks() -> None:
    game = strategic_war("2H 4S 3C", "9H 5S 6D")
    for action in (TOP, TOP, SURRENDER):
        game.play(action)
    # Sorted from high to low: the loser's nine comes before the winner's two.
    assert game.hands == [cards("3C 4S 5S 9H 2H"), cards("6D")]
    assert (game.attacker, game.mover, game.turn) == (0, 0, 1)
    assert [bits(hand) for hand in game.known()] == ["00011", "0"]


def test_a_known_card_stays_known_when_it_is_laid_face_down() -> None:
    game = strategic_war("9H 5H", "2S 5S 8S 7S")
    game.play(TOP)
    game.play(TOP)
    assert game.hands == [cards("5H 9H 2S"), cards("5S 8S 7S")]
    game.play(TOP)
    game.play(TOP)
    assert game.table == [("5H", True, 0), ("5S", True, 1), ("9H", False, 0), ("8S", False, 1)]
    assert game.known_table() == [True, True, True, False]
    game.play(SURRENDER)
    assert game.hands == [cards("2S 9H 8S 5H 5S"), cards("7S")]
    assert [bits(hand) for hand in game.known()] == ["11011", "0"]


def test_strategic_war_is_truncated() -> None:
    game = strategic_war("5H 2H", "9S 8S", max_turns=1)
    game.play(TOP)
    game.play(TOP)
    assert game.over
    assert game.truncated
    assert game.winner is None
    assert game.rewards() == (0, 0)
    assert game.legal() == []


def test_a_war_counts_as_one_round_and_only_when_collected() -> None:
    game = strategic_war("5H 2H 3H 4H 6H 8H", "5S 2S 3S 4S 7S 9S", max_turns=1)
    for action in (TOP, TOP, FIGHT, FIGHT, TOP):
        game.play(action)
        assert not game.over
    game.play(TOP)
    assert game.truncated


def test_strategic_war_really_ends_in_the_round_of_the_limit() -> None:
    game = strategic_war("5H", "9S 8S", max_turns=1)
    game.play(TOP)
    game.play(TOP)
    assert game.over
    assert not game.truncated
    assert game.winner == 1


def test_strategic_war_twins() -> None:
    game = strategic_war("2H 4H 3H", "2S 4S 3S", minimal=True, fair=True, num_ranks=3)
    game.play(BOTTOM)
    assert [bits(hand) for hand in game.known()] == ["00", "001"]
    game.play(TOP)
    assert game.hands == [cards("2H 4H 3H 2S"), cards("4S 3S")]
    assert [bits(hand) for hand in game.known()] == ["1011", "01"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2S 4S 3S", "2H 4H 3H"),  # player 0 never gets the black half
        ("2H 4H 3H", "2S 3S 4S"),
        ("2H 4S 3H", "2S 4H 3S"),
    ],
)
def test_other_strategic_war_hands_draw_no_twin_inference(first: str, second: str) -> None:
    game = strategic_war(first, second, minimal=True, fair=True, num_ranks=3)
    game.play(TOP)
    assert "1" not in bits(game.known()[1])


def test_strategic_war_open_cards() -> None:
    game = strategic_war("5H 2H 3H", "5S 2S 3S", open_cards=True)
    assert game.known() == ([True] * 3, [True] * 3)
    game.play(TOP)
    game.play(TOP)
    assert game.known_table() == [True] * 4
    # Cards laid in a war still count as laid face down when they are collected.
    assert [face_up for _, face_up, _ in game.table] == [True, True, False, False]
    game.play(SURRENDER)
    assert game.hands == [cards("3H 2H 2S 5H 5S"), cards("3S")]


# --- what both need ---


def test_decks() -> None:
    assert len(deck("attack-defence")) == len(deck("strategic-war")) == 52
    assert len(deck("attack-defence", minimal=True)) == 26
    assert deck("attack-defence", True, 3) == cards("AH 2H 3H AS 2S 3S")
    assert deck("strategic-war", True, 3) == cards("2H 3H 4H 2S 3S 4S")
    assert [colour(card) for card in ("2H", "2D", "2S", "2C")] == ["red", "red", "black", "black"]
    assert [twin(card) for card in ("2H", "2D", "2S", "2C")] == ["2S", "2C", "2H", "2D"]
    for wrong in (1, 2, 4, 12, 15):
        with pytest.raises(ValueError, match="num_ranks"):
            deck("strategic-war", num_ranks=wrong)


@pytest.mark.parametrize(
    ("first", "second"),
    [("", "2S"), ("2S", ""), ("2S 2S", "3S"), ("2S", "2S"), ("2D", "2S"), ("KH", "2S")],
)
def test_hands_must_be_distinct_cards_of_the_deck(first: str, second: str) -> None:
    with pytest.raises(ValueError, match=r"card"):
        attack_defence(first, second, minimal=True, num_ranks=5)
    with pytest.raises(ValueError, match=r"card"):
        strategic_war(first, second, minimal=True, num_ranks=5)


def test_given_hands_are_left_alone() -> None:
    hands = (cards("5H 2H"), cards("9S 8S"))
    AttackDefence(hands, max_turns=9).play(DEFEND, DEFEND)
    StrategicWar(hands, first_attacker=0, max_turns=9).play(TOP)
    assert hands == (cards("5H 2H"), cards("9S 8S"))


@pytest.mark.parametrize("seed", range(20))
def test_random_games_keep_their_cards_and_never_forget(seed: int) -> None:
    chance = random.Random(seed)
    in_play = deck("strategic-war", True, 5)
    chance.shuffle(in_play)
    cut = chance.randrange(1, len(in_play))
    game = StrategicWar((in_play[:cut], in_play[cut:]), first_attacker=seed % 2, max_turns=30)
    seen: set[str] = set()
    while not game.over:
        game.play(chance.choice(game.legal()))
        places = game.hands[0] + game.hands[1] + [card for card, _, _ in game.table]
        known = game.known()[0] + game.known()[1] + game.known_table()
        assert sorted(places) == sorted(in_play)
        now = {card for card, flag in zip(places, known, strict=True) if flag}
        assert seen <= now
        seen = now
    assert sum(game.rewards()) == 0
