"""A model's two files are read as one, whoever replaces them meanwhile."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from war_agents.models import stored as stored_model
from war_agents.models.model_card import card_file
from war_agents.models.shipped import champion_file
from war_agents.models.stored import read_model

SHIPPED = json.loads(card_file(champion_file("attack-defence")).read_text())
WRITER = """
import hashlib, json, sys
from pathlib import Path
from war_agents.files import write_bytes
file, card = Path(sys.argv[1]), json.loads(sys.argv[2])
for number in range(1_000_000):
    data = number.to_bytes(4, "little") * 50_000
    write_bytes(file, data)
    write_bytes(
        file.with_suffix(".json"),
        json.dumps({**card, "steps": number, "sha256": hashlib.sha256(data).hexdigest()}).encode(),
    )
    if number % 4 == 0:
        print(number, flush=True)
"""


def saved(folder: Path, weights: bytes, **entries: object) -> Path:
    file = folder / "model.safetensors"
    file.write_bytes(weights)
    card_file(file).write_text(json.dumps(SHIPPED | entries))
    return file


@pytest.mark.process
def test_weights_and_card_are_of_one_save_while_another_process_replaces_them(
    tmp_path: Path,
) -> None:
    file = tmp_path / "model.safetensors"
    card = json.dumps({key: SHIPPED[key] for key in list(SHIPPED)[:8]})
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), card], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        try:
            seen: set[int] = set()
            while len(seen) < 10:  # however slowly the other one gets on
                assert writer.stdout.readline()
                found = read_model(file)
                number = int.from_bytes(found.weights[:4], "little")
                assert found.card.entries["steps"] == number
                assert found.sha256 == hashlib.sha256(found.weights).hexdigest()
                seen.add(number)
        finally:
            writer.kill()


def test_a_card_that_does_not_say_whose_it_is_is_taken_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_model, "PATIENCE_SECONDS", -1)
    monkeypatch.setattr(stored_model, "REST_SECONDS", 1000)
    assert read_model(saved(tmp_path, b"weights")).weights == b"weights"


def test_a_save_that_was_cut_short_is_taken_as_it_is(tmp_path: Path) -> None:
    file = saved(tmp_path, b"new", sha256=hashlib.sha256(b"old").hexdigest())
    found = read_model(file)
    assert (found.weights, found.sha256) == (b"new", hashlib.sha256(b"new").hexdigest())


def test_too_large_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_model, "MAX_MODEL_BYTES", 3)
    with pytest.raises(ValueError, match=r"model\.safetensors is not a model .* larger than 3"):
        read_model(saved(tmp_path, b"1234"))
