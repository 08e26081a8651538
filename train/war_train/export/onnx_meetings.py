"""`war_agents.networks.meetings.Meetings` as nodes of an ONNX graph."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.networks.meetings import COLOURS_AT, FIRST_PLACES, RANKS_AT, SUITS_AT
from war_envs.engine.engine import ENGINES

# Kind, inputs and output (names, divided by spaces), attributes.
Node = tuple[str, str, str, dict[str, Any]]
_HAND: Final = FIRST_PLACES + 1


def meetings_arrays() -> dict[str, NDArray[Any]]:
    """The constants of `meetings_nodes` by name."""
    encoding = ENGINES["strategic-war"].layout
    ranks, suits, colours = (encoding.features[:, at] for at in (RANKS_AT, SUITS_AT, COLOURS_AT))
    known = ranks.sum(axis=1, keepdims=True)
    columns = np.arange(ranks.shape[1])
    unseen = [encoding.index(f"unseen_{colour}_0") for colour in ("red", "black")]
    return {
        "ranks_of": ranks,
        "suits_of": suits,
        "colours_of": colours,
        "known_of": known,
        "unseen_colours_of": (1 - known) * colours,
        "unseen_at": np.add.outer(unseen, columns),
        "minimal_at": np.array([[encoding.index("minimal")]]),
        "lower_ranks": np.tri(len(columns), k=-1, dtype=np.float32).T,
        "own_and_table": np.arange(_HAND + 1),
        "table_and_other": np.arange(_HAND, 2 * _HAND + 1),
        "last_axis": np.array([2]),
        "half": np.array(0.5, np.float32),
        "whole": np.array(1.0, np.float32),
    }


def meetings_nodes() -> list[Node]:
    """What makes ``inputs``, float32 (B, H + M): the header's tokens and the meetings.

    They take ``header``, float32 (B, H), and ``all_cards``, int64, with the ``meeting_at`` of
    `war_train.export.plain.plain_arrays`.
    """
    kinds = ("ranks", "suits", "colours", "known", "unseen_colours")
    parts = ("chances", "wins", "losses", "differ")
    return [
        ("Gather", "all_cards meeting_at", "meeting_cards", {"axis": 1}),
        *(("Gather", f"{kind}_of meeting_cards", kind, {"axis": 0}) for kind in kinds),
        ("Gather", "header unseen_at", "unseen", {"axis": 1}),  # (B, colours, ranks)
        ("ReduceSum", "unseen last_axis", "unseen_sums", {"keepdims": 1}),
        ("Max", "unseen_sums whole", "unseen_sums_or_one", {}),
        ("Div", "unseen unseen_sums_or_one", "shares", {}),
        ("MatMul", "unseen_colours shares", "guesses", {}),
        ("Add", "ranks guesses", "chances", {}),
        ("MatMul", "chances lower_ranks", "below", {}),
        # Do the suits differ?
        *_pairs("colours", "colours", "same_colour"),
        ("Gather", "header minimal_at", "minimal", {"axis": 1}),  # (B, 1, 1)
        ("Mul", "minimal half", "half_if_minimal", {}),
        ("Add", "half_if_minimal half", "same_suit_of_colour", {}),
        ("Mul", "same_colour same_suit_of_colour", "same_if_unknown", {}),
        *_pairs("suits", "suits", "same_if_known"),
        *_pairs("known", "known", "both_known"),
        ("Sub", "same_if_known same_if_unknown", "same_change", {}),
        ("Mul", "both_known same_change", "same_change_if_known", {}),
        ("Add", "same_if_unknown same_change_if_known", "same", {}),
        ("Sub", "whole same", "differ", {}),
        # And which card is higher?
        *_pairs("chances", "below", "higher"),
        ("Mul", "higher differ", "wins", {}),
        *_pairs("below", "chances", "lower"),
        ("Mul", "lower differ", "losses", {}),
        *(("Flatten", part, f"flat_{part}", {"axis": 1}) for part in parts),
        ("Concat", "header " + " ".join(f"flat_{part}" for part in parts), "inputs", {"axis": 1}),
    ]


def _pairs(one: str, other: str, output: str) -> list[Node]:
    """Products of each own card (or the table's) of ``one`` with the table's and each of theirs."""
    left, right, turned = (f"{output}_{part}" for part in ("left", "right", "turned"))
    return [
        ("Gather", f"{one} own_and_table", left, {"axis": 1}),
        ("Gather", f"{other} table_and_other", right, {"axis": 1}),
        ("Transpose", right, turned, {"perm": [0, 2, 1]}),
        # No Einsum: onnxruntime's divides by the size of the batch, and dies of an empty one.
        ("MatMul", f"{left} {turned}", output, {}),
    ]
