# make install   .venv with the project and its training extra
# make demo      trains for about a minute by self-play, then plays a tournament with the result
# make test      installs what the tests need and runs them; a few need Chromium, and are skipped
#                where there is none
# make test-fast  those that are quick and need no further process; two minutes
# make test-clients  the examples for other libraries, in environments under .venvs
# make test-lowest   tests with the lowest versions that pyproject.toml allows, on Python 3.11
# make bench     measures speeds and writes docs/benchmarks.md; some minutes
# make bench-peers   the same, with other packages beside it, in environments under .venvs
# make check     lint, types, and the wheel in a clean environment

PYTHON ?= python3
DEMO_STEPS ?= 1_000_000
BIN := .venv/bin

# Every install goes through constraints.txt: an unpinned torch would be a download of gigabytes.
# The two variables hold the isolated build of the project to the same pins (older and newer pip).
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	$(BIN)/python -m pip install --no-input --disable-pip-version-check -c constraints.txt

.PHONY: install demo test test-fast test-clients test-lowest bench bench-peers bench-page check
.DELETE_ON_ERROR:

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) -e ".[train]"
	touch $@

.venv/installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) -e ".[train,onnx,ray,dev]"
	touch .venv/installed $@

# The demo owns these two folders and starts afresh each time.
demo: install
	rm -rf runs/demo report/demo
	$(BIN)/war train --game attack-defence --minimal --steps $(DEMO_STEPS) --seed 1 --out runs/demo
	$(BIN)/war tournament --game attack-defence --minimal \
		--agents random attack defend memory runs/demo --deals 1000 --seed 1 --out report/demo

test: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal

test-fast: .venv/installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal \
		-m "not slow and not process and not browser and not clients"

CLIENTS := agilerl farama rl_zoo3 rllib tianshou torchrl

test-clients: .venv/installed-dev $(CLIENTS:%=.venvs/%/installed)
	$(BIN)/python -m pytest -m clients tests/clients

# Where the package index has only CUDA builds of the lowest torch, it is a download of gigabytes.
LOWEST_PYTHON ?= python3.11
LOWEST_TESTS ?= tests/envs tests/contract tests/clients tests/train/test_learner.py \
	tests/train/test_vec_env.py tests/train/test_export.py tests/agents/test_versus*.py \
	tests/agents/test_cli.py tests/agents/test_arena_ray.py tests/test_examples.py

test-lowest: .venvs/lowest/installed
	.venvs/lowest/bin/python -m pytest $(LOWEST_TESTS)

.venvs/lowest/installed: pyproject.toml constraints-lowest.txt
	$(LOWEST_PYTHON) -m venv .venvs/lowest
	.venvs/lowest/bin/python -m pip install --no-input --disable-pip-version-check \
		-c constraints-lowest.txt -e ".[train,onnx,ray,dev]"
	touch $@

# Each run starts afresh, so that a page never mixes figures of two.
FIGURES := report/bench
PEERS := pettingzoo rlcard openspiel pgx tutorial

bench: .venv/installed-dev
	rm -rf $(FIGURES)
	mkdir -p $(FIGURES)
	for section in batch aec vec train tournament; do \
		$(BIN)/war bench $$section --json > $(FIGURES)/$$section.jsonl || exit 1; done
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/curve.py docs/benchmarks-curve.svg \
		> $(FIGURES)/curve.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/learner.py > $(FIGURES)/learner.jsonl
	$(MAKE) --no-print-directory bench-page

bench-peers: $(PEERS:%=.venvs/%/installed) bench
	for peer in $(PEERS); do OMP_NUM_THREADS=1 .venvs/$$peer/bin/python \
		benchmarks/peers/$${peer}_*.py > $(FIGURES)/peers-$$peer.jsonl || exit 1; done
	$(MAKE) --no-print-directory bench-page

bench-page:
	$(BIN)/python benchmarks/write_report.py $(FIGURES) docs/benchmarks.md

# Not through constraints.txt: what peers need is no part of the project, and pinned for itself.
.venvs/%/installed: benchmarks/peers/requirements-%.txt
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --no-input --disable-pip-version-check -r $<
	touch $@

# A client is pinned for itself too, but next to the project: their demands must not clash.
.venvs/%/installed: examples/clients/requirements-%.txt pyproject.toml
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --no-input --disable-pip-version-check -r $< -e .
	touch $@

check: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy war_envs agents/war_agents train/war_train tests examples benchmarks
	$(BIN)/python tests/packaging/check_wheel.py
