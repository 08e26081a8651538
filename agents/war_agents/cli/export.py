"""``war export``."""

import importlib
from pathlib import Path
from typing import Literal

import tyro


def run(
    model: tyro.conf.Positional[str],
    *,
    to: Literal["sb3", "torchscript", "onnx"],
    out: Path,
    game: Literal["attack-defence", "strategic-war"] | None = None,
    variant: str | None = None,
) -> None:
    """Writes a trained policy as a file for other tools, and checks it against the original.

    Args:
        model: A run folder, a model file, or champion.
        to: A zip that sb3_contrib.MaskablePPO.load reads where war-envs is installed; a TorchScript
            module; or an ONNX graph (which needs the extra "onnx").
        out: The file; it must not exist.
        game: What the model plays; only champion, a name in both games, needs it.
        variant: Which of the variants that the model was trained for the file is for; by default
            the only one.
    """
    exports = importlib.import_module("war_train.export")
    exports.export(model, to=to, out=out, game=game, variant=variant)
    print(f"Checked against the model; the file is {out}. This program uses it:\n")
    print(exports.usage(model, to=to, out=out, game=game, variant=variant), end="")
