"""What a run has come to beside what has been learned: it is kept in its state."""

from dataclasses import dataclass, field
from typing import Any, Self

from war_train.run.state import RunState


@dataclass
class History:
    """Beside the learner and its games.

    Attributes:
        log_size: bytes of the log.
        seconds: how long the run has taken.
        evaluations: ``steps`` and ``scores`` of each.
        exploiter_due: is an exploiter to be trained before the next rollout?
        exploiter_score: what the last one scored, as long as no row of the log has told it.
    """

    log_size: int = 0
    seconds: float = 0.0
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    exploiter_due: bool = False
    exploiter_score: float | None = None

    @classmethod
    def of(cls, state: RunState) -> Self:
        """The history that a state holds.

        Raises:
            ValueError: it holds none.
        """
        seconds, evaluations = state.entries.get("seconds"), state.entries.get("evaluations")
        if not isinstance(seconds, float) or not 0.0 <= seconds < float("inf"):
            raise ValueError(f"seconds is {seconds!r}, not a time")
        if not isinstance(evaluations, list) or not all(map(_is_evaluation, evaluations)):
            raise ValueError("evaluations are not what they must be")
        due, score = (state.entries.get(f"exploiter_{name}") for name in ("due", "score"))
        if not isinstance(due, bool) or not (score is None or isinstance(score, float)):
            raise ValueError(f"exploiter_due is {due!r}, exploiter_score {score!r}")
        return cls(state.count("log_size"), seconds, evaluations, due, score)


def _is_evaluation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("steps"), int)
        and isinstance(value.get("scores"), dict)
    )
