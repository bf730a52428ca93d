.PHONY: demo test test-agents programs bytecode check soak bench bench-peers format lock clean
BIN := .venv/bin
# Tests mostly wait for other processes, so twice as many of them as there are cores.
WORKERS = $(shell $(BIN)/python -c 'import os; print(2 * (os.cpu_count() or 1))')

demo: .venv/.runtime ## build a sample project with the scripted agent
	$(BIN)/ralph demo

test: export PYTHONDONTWRITEBYTECODE =
test: .venv/.dev ## every check: lint, types, layers, tests
	$(MAKE) -j2 check programs bytecode
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

test-agents: .venv/.dev ## the agents that `make test` drives only through what is special about them
	tools/agent-clis . more rest >/dev/null
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m agents tests/e2e/agents

programs: .venv/.dev ## what the tests drive: packages of the system, and agents
	tools/system-packages
	tools/agent-clis >/dev/null
	tools/wheels

bytecode: .venv/.dev ## of the tests: without it each worker would rewrite all of them
	$(BIN)/pytest --collect-only -q >/dev/null

check: .venv/.dev ## everything but the tests
	$(BIN)/ruff format --check src tests bench
	$(BIN)/ruff check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports
	tools/file-length
	$(BIN)/python tools/shape

soak: .venv/.dev ## the tests that take minutes, and new random examples for the others
	RALPH_TEST_EXAMPLES=1000 $(BIN)/pytest -n auto -m "soak or hypothesis"

bench: .venv/.dev ## ratios against bare Python, written to bench/results/
	$(BIN)/python -m bench

bench-peers: .venv/.dev ## Ralph beside other loops, which npm installs into a cache
	$(BIN)/python -m bench.peers

format: .venv/.dev
	$(BIN)/ruff check --fix src tests bench
	$(BIN)/ruff format src tests bench

lock: ## write requirements/*.txt anew (needs uv)
	tools/lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.runtime: requirements/runtime.txt pyproject.toml
	tools/venv $<

.venv/.dev: requirements/dev.txt pyproject.toml
	tools/venv $<
	@touch .venv/.runtime
