# Each target does all set-up that it needs in a fresh clone.
# One thread a process: the work is many small operations, and the numbers are the same everywhere.
.PHONY: verify deep prove experiments flake test lint docs package bench clean
.DELETE_ON_ERROR:

PYTHON ?= python3
ENV := .venv/.installed
RUN := .venv/bin/python -m
export OMP_NUM_THREADS ?= 1

# The main job: examine every statement, print the ledger, write the evidence and its page.
verify: $(ENV)
	$(RUN) pytest verify
	$(RUN) verify convolutions --evidence evidence
	$(MAKE) docs

# Proofs that Coq's kernel checks; says what to install where Coq is missing.
prove: $(ENV)
	$(RUN) verify prove

# The same as the main job, looking much harder.
deep: $(ENV)
	$(RUN) pytest verify --profile deep
	$(RUN) verify convolutions --profile deep --evidence evidence
	$(MAKE) docs

# The main job from twenty seeds: nothing may hang on chance.
flake: $(ENV)
	for seed in $$(seq 20); do \
		$(RUN) pytest verify -q --seed $$seed --evidence evidence/seeds/$$seed || exit 1; \
	done

# The papers' experiments; each takes up where it was stopped.
experiments: $(ENV)
	for name in dln vgg conditioning small-batch cost resnet; do \
		$(RUN) verify experiment $$name || exit 1; \
	done
	$(MAKE) docs

# The library's own tests, the doctests and the planted wrong formulas.
test: $(ENV)
	$(RUN) pytest -n auto --dist loadfile --doctest-modules --doctest-glob='*.md' \
		tests README.md docs/guides/formulas.md docs/guides/methods.md theory \
		verify/witnesses verify/tolerance.py verify/evidence.py verify/datasets verify/experiments \
		verify/convolutions verify/kernel verify/cases/convolutions.py verify/scaling_bounds.py verify/optimal_scaling.py

lint: $(ENV)
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	.venv/bin/lint-imports

# The site, from the evidence of the last run.
docs: $(ENV)
	$(RUN) verify page
	$(RUN) sphinx -W --keep-going -b html docs docs/_build/html

# The wheel in an empty environment, outside of the checkout; then what other Pythons would install.
package: $(ENV)
	rm -rf build/package
	.venv/bin/pip wheel --quiet --no-deps -w build/package .
	$(PYTHON) -m venv build/package/env
	build/package/env/bin/pip install --quiet -c constraints.txt build/package/*.whl
	cd build/package && env/bin/python -m verify ledger | tail -1
	for version in 3.12 3.13; do \
		.venv/bin/pip install --quiet --dry-run --python-version $$version --only-binary=:all: \
			--target build/package/$$version -c constraints.txt build/package/*.whl || exit 1; \
	done

bench: $(ENV)
	.venv/bin/python benchmarks/bench_formulas.py

$(ENV): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --upgrade pip -c constraints.txt
	.venv/bin/pip install --quiet -c constraints.txt -e '.[docs,dev,optimal]'
	touch $@

clean:
	rm -rf .venv build evidence docs/_build docs/generated
