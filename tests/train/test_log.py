"""The log of a run: what it holds is JSON, and TensorBoard's file says the same."""

import math
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.support.runs import config
from war_agents.files import parse_json
from war_train.ppo.training import train
from war_train.run.log import RunLog
from war_train.run.state import RunState

ROW: dict[str, Any] = {
    "steps": 512,
    "explained_variance": math.nan,
    "score": {"random": 0.5, "memory": math.inf, "more": [{"low": -math.inf}]},
}


def test_what_is_not_finite_is_null_in_the_log_and_as_it_is_for_tensorboard(
    tmp_path: Path,
) -> None:
    with RunLog(tmp_path, 1024, progress=False) as log:
        log.write(ROW)
        assert log.size == (tmp_path / "log.jsonl").stat().st_size
    (line,) = (tmp_path / "log.jsonl").read_text().splitlines()
    assert parse_json(line) == {
        "steps": 512,
        "explained_variance": None,
        "score": {"random": 0.5, "memory": None, "more": [{"low": None}]},
    }
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    (variance,) = events.Scalars("explained_variance")
    assert variance.step == 512
    assert math.isnan(variance.value)
    assert [event.value for event in events.Scalars("score/random")] == [0.5]
    assert [event.value for event in events.Scalars("score/memory")] == [math.inf]


def test_what_is_not_finite_in_a_state_can_be_read_again(tmp_path: Path) -> None:
    RunState({}, {"evaluations": [{"score": math.nan}]}).write(tmp_path)
    assert RunState.read(tmp_path).entries["evaluations"] == [{"score": None}]


def test_a_run_in_which_nothing_is_ever_won_leaves_json(tmp_path: Path) -> None:
    """All returns are 0, and how much of their variance is explained is no number."""
    out = tmp_path / "run"
    train(config(out, steps=512, max_turns=1, gamma=0.0, final_deals=1))
    (line,) = (out / "log.jsonl").read_text().splitlines()
    assert parse_json(line)["explained_variance"] is None
