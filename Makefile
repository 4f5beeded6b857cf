# make demo   runs everything on this machine with a fake X; Ctrl-C ends it; PORT=9000 sets its port
# make quick  runs the tests that start no process, fill no large table and commit nothing
# make test   runs the test suite
# make test-more   runs further, slower tests, and a short form of every benchmark
# make behind   runs the browser tests behind nginx, Caddy and Apache, as in deploy/; BEHIND=nginx only that
# make chaos  injects seeded faults for CHAOS_MINUTES, then checks the books
# make screenshots   makes the pictures of all pages anew (docs/images)
# make check  runs what CI checks: lint, then the test suite
.DEFAULT_GOAL := help
.PHONY: help demo quick test test-more behind chaos screenshots lint check format openapi

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
QUICK := $(filter-out tests/admin/db tests/api/db, \
    $(wildcard tests/*/unit tests/*/db tests/*/*/unit tests/*/*/db))
# Where it is set, each of the many processes that the tests start would compile all the code anew.
unexport PYTHONDONTWRITEBYTECODE

help:
	@sed -n 's/^# //p' Makefile

.venv/made: requirements.txt # venv refuses a link, which leads to one that was made elsewhere
	test -L .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/made-dev: .venv/made requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

.env: | .venv/made
	$(BIN)/python -m tweetwatch.new_env

demo: .venv/made .env
	$(BIN)/python manage.py demo $(if $(PORT),--port=$(PORT))

quick: .venv/made-dev .env
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not more" $(QUICK)

test: .venv/made-dev .env
	$(BIN)/python -m pytest -n 4 --dist loadgroup --no-loadscope-reorder -m "not more"

test-more: .venv/made-dev .env
	$(BIN)/python -m pytest -n 4 --dist loadgroup --no-loadscope-reorder -m more

BEHIND ?= nginx caddy apache
behind: .venv/made-dev .env
	for proxy in $(BEHIND); do BEHIND=$$proxy BEHIND_PROXY=true \
	    $(BIN)/python -m pytest -n 4 --dist loadgroup -m "browser and not more" tests/pages || exit; done

chaos: .venv/made-dev .env
	$(BIN)/python -m tests.chaos

screenshots: .venv/made-dev .env
	$(BIN)/python -m tests.screenshots

lint: .venv/made-dev .env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/mypy tweetwatch trackers fakex
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	HTTPS=true DEBUG=false $(BIN)/python manage.py check --deploy --fail-level WARNING

openapi: .venv/made .env
	$(BIN)/python manage.py shell --no-imports --command \
	    "from django.core.management import call_command; \
	    from ninja.management.commands.export_openapi_schema import Command; \
	    call_command(Command(), api='trackers.api.urls.api', indent=1, output='docs/openapi.json')"

check: lint test

format: .venv/made-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
