"""What a published ``_v0`` must always give, and what writes it down.

``python -m tests.golden`` writes the files in this folder anew; `tests.test_golden` compares them
with what the code gives now. A change that shows in ``git diff`` there is a change of behaviour,
and needs a new version of the ids. What networks have a part in is compared with a tolerance, all
else exactly.
"""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
