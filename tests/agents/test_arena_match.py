"""Matches: fair seats, shared deals, exact counts, the same results however computed."""

import pickle
import random
from typing import Any

import numpy as np
import pytest

from tests.support.players import Player, chance, fixed, memory_like, pick, seat_of, thinker, tops
from war_agents import Agent
from war_agents.arena import MatchResult, play_match
from war_envs.batch import Batch
from war_envs.engine import seeding
from war_envs.variant import GAMES, Variant, make_variant

DEALS = 60


def match(a: Agent, b: Agent, game: str = "attack-defence", **options: Any) -> MatchResult:
    given: dict[str, Any] = {"variant": "minimal", "deals": DEALS, "seed": 5, **options}
    return play_match(a, b, game=game, **given)


def same(one: MatchResult, other: MatchResult) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("results", "lengths", "truncated")
    )


def replay(variant: Variant, pair: tuple[Agent, Agent], deal: int, place: int) -> tuple[int, int]:
    """Plays one game of a match alone: who has lost all cards decides it. (result of a, steps)."""
    batch = Batch(variant, 1)
    sides = variant.game == "strategic-war"
    batch.reset(
        5,
        domain=seeding.EVALUATION,
        lanes=[deal],
        first_attacker=[place // 2] if sides else None,
    )
    steps = 0
    while batch.acting.any():
        actions = np.zeros((1, 2), np.int64)
        for seat in np.flatnonzero(batch.acting[0]):
            agent = pair[(seat + place) % 2]
            seen = batch.observe([0], [seat], encoding=agent.encoding, memory=agent.memory)
            actions[0, seat] = agent.act(*seen, np.zeros(1, np.uint64))[0][0]
        batch.step(actions, autoreset=False)
        steps += 1
    sizes = batch.games["sizes"][0]
    assert (sizes == 0).sum() == 1, "the recount needs a game that one player loses with no cards"
    winner = int(np.argmax(sizes))
    return (1 if winner == place % 2 else -1), steps


@pytest.mark.field_case("E14")
@pytest.mark.parametrize("game", GAMES)
def test_every_game_of_every_deal_is_the_one_it_should_be(game: str) -> None:
    variant = make_variant(game, "minimal", num_ranks=7)
    pair = (thinker("a", 1), thinker("b", 2))
    result = match(*pair, game, variant=variant)
    assert result.results.shape == (DEALS, 2 if game == "attack-defence" else 4)
    recounted = 0
    for deal in range(0, DEALS, 4):
        for place in range(result.results.shape[1]):
            if not result.truncated[deal, place] and result.results[deal, place]:
                outcome = replay(variant, pair, deal, place)
                assert outcome == (result.results[deal, place], result.lengths[deal, place])
                recounted += 1
    assert recounted > 20
    assert 0 < result.wins < result.games


@pytest.mark.field_case("E05")
@pytest.mark.parametrize("game", GAMES)
def test_agent_against_its_copy_scores_one_half_in_every_deal(game: str) -> None:
    result = match(chance("one"), chance("two"), game)
    assert (result.deal_scores == 0.5).all()
    assert result.wins == result.losses > 0
    assert 0 <= result.low < 0.5 < result.high <= 1
    games = result.results.reshape(DEALS, -1, 2)
    assert (games[:, :, 0] == -games[:, :, 1]).all()


@pytest.mark.field_case("E05")
def test_the_better_seat_is_worth_nothing() -> None:
    sharp = memory_like()

    def by_seat(observation: Any, legal: Any, seeds: Any) -> Any:
        """Plays well in seat 0 and badly in seat 1."""
        good = sharp.choose(observation, legal, seeds)
        return np.where(seat_of(observation) == 0, good, 1 - good)

    result = match(Player("one", by_seat), Player("two", by_seat), variant="open-card")
    assert result.results[:, 0].mean() > 0.9, "the seat decides these games"
    assert result.results[:, 1].mean() < -0.9
    assert result.wins == result.losses
    assert result.score == 0.5


@pytest.mark.parametrize("game", GAMES)
def test_who_is_named_first_does_not_matter(game: str) -> None:
    pair = chance("a"), thinker("b")
    forth, back = match(*pair, game), match(pair[1], pair[0], game)
    swapped = back.results.reshape(DEALS, -1, 2)[:, :, ::-1].reshape(DEALS, -1)
    assert np.array_equal(forth.results, -swapped)
    assert forth.score == pytest.approx(1 - back.score)
    assert forth.low == pytest.approx(1 - back.high)
    assert (forth.a, forth.b) == (back.b, back.a) == ("a", "b")


@pytest.mark.slow
@pytest.mark.field_case("E07")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("chunk_games", [1, 8, 100])
def test_results_do_not_depend_on_the_size_of_a_chunk(game: str, chunk_games: int) -> None:
    agents = chance("a"), thinker("b")
    whole = match(*agents, game, deals=30)
    assert same(whole, match(*agents, game, deals=30, chunk_games=chunk_games))
    assert same(whole, match(*agents, game, deals=30, chunk_games=1000))


@pytest.mark.parametrize("game", GAMES)
def test_first_deals_of_a_longer_match_are_those_of_a_shorter_one(game: str) -> None:
    short = match(chance("a"), thinker("b"), game, deals=10)
    long = match(chance("a"), thinker("b"), game, deals=25)
    assert np.array_equal(short.results, long.results[:10])


@pytest.mark.slow
@pytest.mark.field_case("E07")
@pytest.mark.parametrize("chunk_games", [2, 16, 64])
def test_short_games_do_not_count_more_than_long_ones(chunk_games: int) -> None:
    """Length goes with result: who counts the first to finish counts more of one kind."""
    a, b = chance("a"), fixed("defend", 1)
    whole = match(a, b)
    lost, won = (whole.lengths[whole.results == value].mean() for value in (-1, 1))
    assert abs(lost - won) > 20, "length and result must go together for this test to bite"
    result = match(a, b, chunk_games=chunk_games)
    assert same(result, whole)
    assert result.games == 2 * DEALS


@pytest.mark.field_case("E04")
def test_draws_are_half_points() -> None:
    cut = match(chance("a"), chance("b"), variant=make_variant("attack-defence", max_turns=1))
    assert (cut.wins, cut.draws, cut.losses) == (0, 2 * DEALS, 0)
    assert cut.truncated.all()
    assert (cut.lengths == 1).all()
    assert cut.score == 0.5

    some = match(
        chance("a"), fixed("b", 1), variant=make_variant("attack-defence", "minimal", max_turns=250)
    )
    assert min(some.wins, some.draws, some.losses) > 0
    assert some.wins + some.draws + some.losses == some.games == 2 * DEALS
    assert some.score == pytest.approx((some.wins + some.draws / 2) / some.games)
    assert some.deal_scores.mean() == pytest.approx(some.score)


@pytest.mark.parametrize("game", GAMES)
def test_limit_cuts_off_exactly_the_games_that_are_longer(game: str) -> None:
    # Agents see the limit (turns as a fraction of it); these do not look.
    free = match(fixed("a", 0), fixed("b", 1), game, deals=30)
    limit = int(np.median(free.lengths)) if game == "attack-defence" else 30
    variant = make_variant(game, "minimal", max_turns=limit)
    cut = match(fixed("a", 0), fixed("b", 1), game, deals=30, variant=variant)
    assert not cut.results[cut.truncated].any()
    assert np.array_equal(cut.results[~cut.truncated], free.results[~cut.truncated])
    assert np.array_equal(cut.lengths[~cut.truncated], free.lengths[~cut.truncated])
    if game == "attack-defence":
        assert np.array_equal(cut.truncated, (free.lengths > limit) | free.truncated)
        assert 0 < cut.truncated.sum() < cut.games


def first_views(seed: int, **options: Any) -> set[bytes]:
    """What seat 0 sees at the start of each deal, hands and all."""
    a = chance("a")
    match(a, chance("b"), variant="open-card", deals=20, seed=seed, **options)
    observation = a.calls[0][0]
    return {row.tobytes() for row in observation[seat_of(observation) == 0]}


@pytest.mark.field_case("S07")
def test_deals_are_never_those_of_training_or_of_another_seed() -> None:
    sets = [first_views(seed) for seed in (0, 1, 2)]
    assert [len(views) for views in sets] == [20, 20, 20]
    assert not sets[0] & sets[1]
    assert not sets[1] & sets[2]
    for seed in (0, 1, 2):
        batch = Batch(make_variant("attack-defence", "open-card"), 64)
        batch.reset(seed)
        training = {row.tobytes() for row in batch.observe()[0][:, 0]}
        assert len(training) == 64
        assert not any(views & training for views in sets)


@pytest.mark.field_case("E05")
def test_both_agents_get_the_same_deals_in_the_same_seats() -> None:
    a, b = chance("a"), chance("b")
    match(a, b, variant="open-card", deals=20)
    views = []
    for agent in (a, b):
        observation = agent.calls[0][0]
        seats = seat_of(observation)
        assert (seats == 0).sum() == (seats == 1).sum() == 20
        views.append([{row.tobytes() for row in observation[seats == seat]} for seat in (0, 1)])
    assert views[0] == views[1]


@pytest.mark.parametrize("game", GAMES)
def test_no_two_choices_share_a_seed(game: str) -> None:
    a, b = chance("a"), chance("b")
    match(a, b, game, deals=10)
    seeds = [np.concatenate([call[2] for call in agent.calls]) for agent in (a, b)]
    for own in seeds:
        assert len(np.unique(own)) == len(own)
    # In A&D the seats of one game choose at once: their draws must differ there too.
    if game == "attack-defence":
        assert not (a.calls[0][2] == b.calls[0][2]).any()
    # The games of a deal are played with the same luck in a seat, whoever sits there.
    assert set(seeds[0].tolist()) == set(seeds[1].tolist())


@pytest.mark.parametrize("game", GAMES)
def test_agents_are_asked_only_where_they_choose(game: str) -> None:
    a, b = chance("a"), chance("b")
    result = match(a, b, game)
    asked = [sum(len(call[0]) for call in agent.calls) for agent in (a, b)]
    choices = result.lengths.sum()
    assert sum(asked) == (2 * choices if game == "attack-defence" else choices)
    for agent in (a, b):
        assert all(call[1].any(axis=1).all() for call in agent.calls)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("encoding", ["vector", "tokens"])
@pytest.mark.parametrize("memory", ["perfect", "table"])
def test_each_agent_sees_what_it_wants(game: str, encoding: str, memory: str) -> None:
    a, b = fixed("a", 0, encoding=encoding, memory=memory), fixed("b", 1)
    result = match(a, b, game, deals=5)
    batch = Batch(make_variant(game, "minimal"), 20, encoding=encoding, memory=memory)
    for observation, _, _ in a.calls:
        assert observation.shape[1:] == batch.observation_shape
        assert observation.dtype == batch.observation_dtype
    assert same(result, match(fixed("a", 0), b, game, deals=5))


def test_views_are_those_of_the_batch_in_either_encoding() -> None:
    a = fixed("a", 0, encoding="vector", memory="table")
    match(a, fixed("b", 1), deals=5, variant="fair")
    batch = Batch(make_variant("attack-defence", "fair"), 10, encoding="vector", memory="table")
    lanes = np.repeat(np.arange(5), 2)
    batch.reset(5, domain=seeding.EVALUATION, lanes=lanes)
    expected, _ = batch.observe(np.arange(10), np.tile([0, 1], 5))
    assert np.array_equal(a.calls[0][0], expected)


def test_what_an_agent_does_to_its_arrays_harms_nobody() -> None:
    def vandal(observation: Any, legal: Any, seeds: Any) -> Any:
        chosen = pick(legal, seeding.action_seeds(seeds, 0))
        observation[:] = 77
        seeds[:] = 0
        return chosen

    class Vandal(Player):
        def act(self, observation: Any, action_mask: Any, seeds: Any, *rest: Any) -> Any:
            answer = super().act(observation, action_mask, seeds, *rest)
            action_mask[:] = 0
            return answer

    for game in GAMES:
        honest = match(chance("a"), thinker("b"), game)
        assert same(honest, match(Vandal("a", vandal), thinker("b"), game))


class Counter:
    """Remembers of each game its seat and its choices, and checks that it gets that back."""

    name = "counter"
    encoding = "tokens"
    memory = "table"

    def __init__(self, game: str) -> None:
        self.game = game
        self.longest = 0

    def act(
        self, observation: Any, action_mask: Any, seeds: Any, state: Any = None, starts: Any = None
    ) -> Any:
        seats = seat_of(observation, self.game)
        own_size = observation[:, 7].astype(np.int64)
        if state is None:
            assert starts is None
            counts, (kept, pairs) = (
                np.zeros(len(seats), np.int64),
                (seats, np.zeros((len(seats), 2))),
            )
            starts = np.ones(len(seats), bool)
        else:
            counts, (kept, pairs) = state
        assert (kept[~starts] == seats[~starts]).all()
        assert (pairs[~starts, 0] == counts[~starts]).all()
        assert not counts[starts].any()
        counts = np.where(starts, 0, counts) + 1
        self.longest = max(self.longest, int(counts.max()))
        # Plays by what it remembers, so that a mixed-up memory changes the results.
        actions = pick(action_mask.astype(bool), (counts + own_size).astype(np.uint64))
        return actions, (counts, (seats, np.stack([counts, counts], axis=1).astype(float)))


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_agents_that_remember_get_their_own_memory_back(game: str) -> None:
    counter = Counter(game)
    result = match(counter, chance("b"), game)
    if game == "attack-defence":
        assert counter.longest == result.lengths.max()
    assert counter.longest > 10
    assert same(result, match(Counter(game), chance("b"), game, chunk_games=1))


def stateful(state: Any) -> Agent:
    class Stateful(Player):
        def act(self, *args: Any) -> Any:
            return super().act(*args)[0], state

    return Stateful("odd", lambda _o, legal, _s: legal.argmax(axis=1))


@pytest.mark.field_case("M04")
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda legal: np.zeros(len(legal)), "dtype float64"),
        (lambda legal: np.zeros((len(legal), 1), int), r"shape \(120, 1\)"),
        (lambda legal: np.zeros(len(legal) - 1, int), r"shape \(119,\)"),
        (lambda legal: np.full(len(legal), 2), "illegal action 2; legal were 0, 1"),
        (lambda legal: np.full(len(legal), -1), "illegal action -1"),
        (lambda legal: None, "dtype object"),
        (lambda legal: legal.argmax(axis=1).astype(bool), "dtype bool"),
    ],
)
def test_wrong_answers_name_the_agent(answer: Any, complaint: str) -> None:
    bad = Player("bad one", lambda _o, legal, _s: answer(legal))
    with pytest.raises(ValueError, match=complaint) as raised:
        match(chance("good"), bad)
    assert "'bad one'" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_illegal_choice_of_strategic_war_names_what_was_legal() -> None:
    with pytest.raises(
        ValueError, match=r"agent 'bad' chose the illegal action 3; legal were 0, 1"
    ):
        match(
            Player("bad", lambda _o, legal, _s: np.full(len(legal), 3)), chance(), "strategic-war"
        )


@pytest.mark.parametrize(
    "state", ["text", 3, np.zeros(7), (np.zeros(120), [1]), np.zeros(())], ids=str
)
def test_wrong_states_name_the_agent(state: Any) -> None:
    with pytest.raises(ValueError, match="agent 'odd' returned a wrong state"):
        match(stateful(state), chance())


def test_an_answer_that_is_no_pair_names_the_agent() -> None:
    class Mute(Player):
        def act(self, *args: Any) -> Any:
            return super().act(*args)[0]

    with pytest.raises(ValueError, match=r"agent 'mute' returned .*\(actions, state\)"):
        match(chance(), Mute("mute", lambda _o, legal, _s: legal.argmax(axis=1)))


@pytest.mark.field_case("V08")
def test_errors_of_an_agent_name_it() -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("no idea")

    with pytest.raises(ValueError, match="agent 'lost' failed: ValueError: no idea"):
        match(Player("lost", fail), chance())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"deals": 0}, "deals=0"),
        ({"deals": 2.5}, "deals=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": None}, "seed=None"),
        ({"chunk_games": 0}, "chunk_games=0"),
        ({"variant": "tiny"}, "variant='tiny'"),
        ({"game": "poker"}, "game='poker'"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_played(
    options: dict[str, Any], complaint: str
) -> None:
    a = chance("a")
    with pytest.raises(ValueError, match=complaint):
        match(a, chance("b"), **options)
    assert not a.calls


def test_what_is_no_agent_is_refused() -> None:
    for wrong in (3, object(), None):
        with pytest.raises(ValueError, match="give a name, a path, module:factory or an Agent"):
            match(wrong, chance())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="encoding of agent 'a'='pixels'"):
        match(fixed("a", 0, encoding="pixels"), chance())


def test_results_cannot_be_changed() -> None:
    result = match(chance("a"), chance("b"), deals=2)
    with pytest.raises(ValueError, match="read-only"):
        result.results[0, 0] = 1


def global_state() -> tuple[Any, bytes]:
    return random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002


@pytest.mark.field_case("S12")
def test_global_generators_are_left_alone() -> None:
    before = global_state()
    first = match(chance("a"), chance("b"), deals=5)
    assert global_state() == before
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    assert same(first, match(chance("a"), chance("b"), deals=5))


def test_progress_counts_every_game_and_can_stop_the_match() -> None:
    counts: list[int] = []
    result = match(chance("a"), chance("b"), progress=counts.append, chunk_games=30)
    assert sum(counts) == result.games

    def stop(_: int) -> None:
        raise InterruptedError

    a = chance("a")
    with pytest.raises(InterruptedError):
        match(a, chance("b"), progress=stop)
    assert len(a.calls) == 1


def test_open_cards_helper_reads_the_tops() -> None:
    """The stub of the seat test rests on it."""
    a = chance("a")
    match(a, chance("b"), variant="open-card", deals=3)
    batch = Batch(make_variant("attack-defence", "open-card"), 3)
    batch.reset(5, domain=seeding.EVALUATION)
    observation = a.calls[0][0]
    mine, theirs = tops(observation[seat_of(observation) == 0])
    heads = batch.games["hands"][:, :, 0]
    assert np.array_equal(np.stack([mine, theirs], axis=1), heads)


def test_an_agent_that_breaks_is_named_whatever_it_raises() -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("boom")

    with pytest.raises(ValueError, match="agent 'broken' failed: KeyError: 'boom'"):
        match(Player("broken", fail), chance())
