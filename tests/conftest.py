"""Settings for all tests."""

import os

# One thread a process: torch's and BLAS's pools only get in each other's way. Before their import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")
