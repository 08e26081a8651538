"""Writes all golden files anew."""

import json

from tests.golden import FOLDER
from tests.golden.playthroughs import PLAYTHROUGHS
from tests.golden.results import RESULTS

for name, text in PLAYTHROUGHS.items():
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text(), encoding="utf-8")
for name, content in RESULTS.items():
    (FOLDER / name).write_text(json.dumps(content(), indent=1) + "\n", encoding="utf-8")
