# Every goal works from a fresh clone: it first creates .venv and, if uv is missing, installs uv there with pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AGENTS := .cache/agents
PYTHON_AGENTS := $(patsubst tests_agents/python/%.lock,.cache/agents/python/%/.ready,$(wildcard tests_agents/python/*.lock))
MCP := .cache/mcp
EDITORS := .cache/editors
PROTOCOLS := .cache/protocols
BROWSER := .cache/browser
HUB := .cache/hub
CONSOLE := src/hookline/hub/console_files
DIST := .cache/dist
DOCS := .cache/docs
export UV_SYSTEM_CERTS = 1
export UV_NATIVE_TLS = 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export VIRTUAL_ENV = $(CURDIR)/$(VENV)
unexport PYTHONDONTWRITEBYTECODE  # the tests start many interpreters

.PHONY: help run test test-slow attack fuzz test-agents test-frameworks test-mcp test-editors test-protocols test-console test-browser test-hub test-package console hub dist check format bench bench-load bench-hub bench-console console-pictures docs pictures lock clean
.DEFAULT_GOAL := help

help:  ## list the goals
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.ready  ## a scripted agent session with real hooks, offline
	@$(BIN)/hookline run --demo

# Reading all the other tests takes longer than running these.
TIMING_FILES = $$(grep -rlw timing tests --include='test_*.py')

# A busy machine misses deadlines, so failed tests run once more, alone. Arguments: marker expression, pytest options.
define run_tests
$(BIN)/python -m pytest -m "$(1)" $(2) || { echo 'Running the failed tests once more:'; $(BIN)/python -m pytest -m "$(1)" --lf --lfnf=none; }
endef

# The same for a suite of its own. Arguments: python, directory, pytest options.
define run_suite
$(1) -m pytest $(2) $(3) || { echo 'Running the failed tests once more:'; $(1) -m pytest $(2) --lf --lfnf=none; }
endef

test: $(VENV)/.ready  ## all tests except the slow ones
	@$(call run_tests,not slow and not timing,-n 3)

# Tests that measure time come last, with a core for each: their margins are wide, and one that fails runs again alone.
test-slow: $(VENV)/.ready  ## the tests that start servers, kill processes, wait, try thousands of cases or measure time
	@$(call run_tests,slow and not timing,-n 3 --dist worksteal)
	@$(call run_tests,timing and not slow,-n 2 $(TIMING_FILES))
	@$(call run_tests,timing and slow,$(TIMING_FILES))

attack: $(VENV)/.ready  ## attack hookline, and count what gets through
	@$(call run_suite,$(BIN)/python,tests_attack,-n 3)

fuzz: $(VENV)/.ready  ## the property tests with new random examples
	@HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -n 2 -m hypothesis
	@HOOKLINE_FUZZ=1000000 $(BIN)/python -m pytest -n 2 tests/engine/test_reference.py tests/engine/test_random_books.py tests/patterns/test_required_words.py

# Without npm or a network, the goal is skipped with a message. Failed tests run once more.
define with_packages
	@reason=$$(.ci/npm-install $(2)/npm $(3)); code=$$?; \
	if [ $$code -eq 75 ]; then echo "$(1): skipped: $$reason"; exit 0; fi; \
	[ $$code -eq 0 ] || exit 1; \
	$(4) $(BIN)/python -m pytest $(2) $(5) || { echo "$(1): running the failed tests once more"; $(BIN)/python -m pytest $(2) --last-failed; }
endef

test-agents: $(VENV)/.ready  ## the real coding agents from npm and PyPI, with a scripted model
	$(call with_packages,test-agents,tests_agents,$(AGENTS),$(MAKE) -s dist && $(MAKE) -s $(PYTHON_AGENTS) &&,-n 2 --dist loadscope --no-loadscope-reorder)

test-frameworks: $(VENV)/.ready  ## each Python framework in an environment of its own, with a scripted model
	@$(BIN)/python tests_frameworks/run.py

test-mcp: $(VENV)/.ready  ## the MCP reference servers from npm, with and without the proxy
	$(call with_packages,test-mcp,tests_mcp,$(MCP),$(MAKE) -s $(MCP)/python/.ready &&)

test-editors: $(VENV)/.ready  ## what an editor shows: yaml-language-server from npm
	$(call with_packages,test-editors,tests_editors,$(EDITORS),)

test-protocols: $(VENV)/.ready  ## the open protocols, with their own test kits and an agent in TypeScript
	$(call with_packages,test-protocols,tests_protocols,$(PROTOCOLS),$(MAKE) -s $(PROTOCOLS)/python/.ready &&)

$(PROTOCOLS)/python/.ready: tests_protocols/requirements.lock
	@test -x $(PROTOCOLS)/python/bin/python || $(BIN)/python -m venv --without-pip $(PROTOCOLS)/python
	@$(BIN)/uv pip install --quiet --python $(PROTOCOLS)/python/bin/python --require-hashes -r tests_protocols/requirements.lock
	@touch $@

# Without Node.js or a network, the goals of the console are skipped with a message.
define build_console
	@reason=$$(.ci/build-console $(2)); code=$$?; \
	if [ $$code -eq 75 ]; then echo "$(1): skipped: $$reason"; else echo "$$reason"; exit $$code; fi
endef

hub: $(VENV)/.ready console  ## the hub with made-up agents at work, offline; prints a link
	@$(BIN)/hookline hub --demo

console: $(CONSOLE)/index.html  ## build the hub's console; needs Node.js, which is downloaded if there is none

$(CONSOLE)/index.html: $(VENV)/.ready .ci/build-console $(shell find console -type f -not -path '*/node_modules/*')
	$(call build_console,console,build)

test-console: $(VENV)/.ready console  ## the console's types, unit tests and size
	$(call build_console,test-console,test)

test-browser: $(VENV)/.ready console $(BROWSER)/python/.ready  ## the console and browser agents in Chromium
	@reason=$$(.ci/install-chromium); code=$$?; \
	if [ $$code -eq 75 ]; then echo "test-browser: skipped: $$reason"; exit 0; fi; \
	[ $$code -eq 0 ] || exit 1; \
	test -e $(CONSOLE)/index.html || { echo "test-browser: skipped: the console is not built"; exit 0; }; \
	$(call run_suite,$(BROWSER)/python/bin/python,tests_browser)

bench-console: $(VENV)/.ready console $(BROWSER)/python/.ready  ## what the console and browser agents cost in Chromium
	@reason=$$(.ci/install-chromium); code=$$?; \
	if [ $$code -eq 75 ]; then echo "bench-console: skipped: $$reason"; exit 0; fi; \
	[ $$code -eq 0 ] || exit 1; \
	test -e $(CONSOLE)/index.html || { echo "bench-console: skipped: the console is not built"; exit 0; }; \
	$(BROWSER)/python/bin/python tests_browser/measure_console.py

console-pictures: $(VENV)/.ready console $(BROWSER)/python/.ready  ## draw the pictures of the console in Chromium again
	@$(BROWSER)/python/bin/python tests_browser/draw_console.py

$(BROWSER)/python/.ready: tests_browser/requirements.lock
	@test -x $(BROWSER)/python/bin/python || $(BIN)/python -m venv --without-pip $(BROWSER)/python
	@$(BIN)/uv pip install --quiet --python $(BROWSER)/python/bin/python --require-hashes -r tests_browser/requirements.lock
	@touch $@

test-hub: $(VENV)/.ready $(HUB)/python/.ready  ## the hub's API with schemathesis, its socket with the official client
	@$(call run_suite,$(HUB)/python/bin/python,tests_hub)

$(HUB)/python/.ready: tests_hub/requirements.lock
	@test -x $(HUB)/python/bin/python || $(BIN)/python -m venv --without-pip $(HUB)/python
	@$(BIN)/uv pip install --quiet --python $(HUB)/python/bin/python --require-hashes -r tests_hub/requirements.lock
	@touch $@

test-package: $(VENV)/.ready  ## the built sdist and wheel, in new environments
	@$(call run_suite,$(BIN)/python,tests_package)

dist: $(VENV)/.ready console  ## build the sdist and the wheel into .cache/dist
	@rm -rf $(DIST)
	@$(BIN)/uv build --quiet --out-dir $(DIST)

$(AGENTS)/python/%/.ready: tests_agents/python/%.lock
	@test -x $(@D)/bin/python || $(BIN)/python -m venv --without-pip $(@D)
	@$(BIN)/uv pip install --quiet --python $(@D)/bin/python --require-hashes -r $<
	@touch $@

$(MCP)/python/.ready: tests_mcp/requirements.lock
	@test -x $(MCP)/python/bin/python || $(BIN)/python -m venv --without-pip $(MCP)/python
	@$(BIN)/uv pip install --quiet --python $(MCP)/python/bin/python --require-hashes -r tests_mcp/requirements.lock
	@touch $@

check: $(VENV)/.ready  ## lint, format, types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.ready  ## format the sources and apply the fixes of ruff
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.bench  ## compare our speed with that of other libraries
	@$(BIN)/python -m bench

bench-load: $(VENV)/.ready  ## run a thousand sessions of our agent at once
	@$(BIN)/python -m bench.sessions

bench-hub: $(VENV)/.ready console $(BROWSER)/python/.ready  ## the hub beside its targets: load, latency, memory, the console in Chromium
	@reason=$$(.ci/install-chromium) || echo "bench-hub: without a browser: $$reason"
	@$(BIN)/python -m bench.hub

docs: $(VENV)/.ready $(DOCS)/python/.ready  ## build the documentation as a site, in .cache/docs/site
	@$(DOCS)/python/bin/python docs/build_site.py $(DOCS)

$(DOCS)/python/.ready: docs/requirements.lock
	@test -x $(DOCS)/python/bin/python || $(BIN)/python -m venv --without-pip $(DOCS)/python
	@$(BIN)/uv pip install --quiet --python $(DOCS)/python/bin/python --require-hashes -r docs/requirements.lock
	@touch $@

pictures: $(VENV)/.ready  ## draw the pictures of the documentation again
	@for script in docs/draw_*.py; do $(BIN)/python $$script || exit 1; done

# The lock has the extra `all`: the goals install it. Each framework's extra is installed alone, by its own tests.
COMPILE = $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --no-emit-index-url

lock: $(VENV)/.ready  ## update every requirements.lock
	@$(COMPILE) --extra all --group dev pyproject.toml -o requirements.lock
	@$(COMPILE) --group bench -c requirements.lock --overrides bench/overrides.txt pyproject.toml -o bench/requirements.lock
	@$(COMPILE) --group docs -o docs/requirements.lock
	@$(COMPILE) console/requirements.in -o console/requirements.lock
	@$(COMPILE) tests_browser/requirements.in -o tests_browser/requirements.lock
	@$(COMPILE) tests_hub/requirements.in -o tests_hub/requirements.lock
	@$(COMPILE) --prerelease=allow tests_protocols/requirements.in -o tests_protocols/requirements.lock
	@for name in $$(cd tests_frameworks && ls driver_*.py | sed 's/driver_\(.*\).py/\1/'); do \
	  $(COMPILE) --extra $$(echo $$name | tr _ -) pyproject.toml tests_frameworks/requirements.in -o tests_frameworks/$$name.lock || exit 1; \
	done

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("hookline needs Python 3.11 or newer; this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps -e .
	@touch $@

$(VENV)/.bench: $(VENV)/.ready bench/requirements.lock
	@$(BIN)/uv pip install --quiet --no-deps --require-hashes -r bench/requirements.lock
	@touch $@

clean:  ## remove everything that the goals created
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache
