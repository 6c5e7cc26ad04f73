# Each target does all set-up that it needs in a fresh clone.
# One thread a process: the work is many small operations, and the numbers are the same everywhere.
# Frameworks that share an environment, its extras, and the surveys that it runs.
FRAMEWORKS := torch jax tensorflow tinygrad mlx onnx paddle openvino liger
EXTRAS_jax := conform-torch,conform-jax,conform-flax,conform-haiku,conform-equinox,conform-keras
SURVEYS_jax := jax flax haiku equinox keras-jax
EXTRAS_tensorflow := conform-torch,conform-tensorflow,conform-keras
SURVEYS_tensorflow := tensorflow keras-tensorflow keras-torch
EXTRAS_onnx := conform-onnx,conform-onnxruntime
SURVEYS_onnx := onnx onnxruntime

.PHONY: verify deep prove conform alarms checkers experiments measured gpu flake test lint docs package bench clean
.DELETE_ON_ERROR:
.PRECIOUS: build/conform/%/.installed

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

# Every statement from twenty seeds: nothing may hang on chance.  Goes on where it was stopped; what
# is found without a seed, such as a proof, is taken over from the first.
flake: $(ENV)
	unexpected=; known=; \
	for seed in $$(seq 20); do \
		$(RUN) pytest verify -q --profile smoke --seed $$seed --evidence evidence/seeds/$$seed $$known; \
		case $$? in 0) ;; 1) unexpected="$$unexpected $$seed" ;; *) exit 1 ;; esac; \
		known="--take-over evidence/seeds/1"; \
	done; \
	test -z "$$unexpected" || { echo "seeds with unexpected verdicts:$$unexpected"; exit 1; }

# The papers' experiments; each takes up where it was stopped.
experiments: $(ENV)
	for name in dln vgg conditioning small-batch cost resnet; do \
		$(RUN) verify experiment $$name || exit 1; \
	done
	$(MAKE) docs

# The numbers that the site shows where an experiment was not run; nproc would take the number of
# threads for that of cores.
measured: $(ENV)
	for name in dln vgg conditioning small-batch resnet; do \
		$(RUN) verify experiment $$name --evidence docs/measured || exit 1; \
	done
	OMP_NUM_THREADS=$$(env -u OMP_NUM_THREADS nproc) $(RUN) verify experiment cost --evidence docs/measured

# What wants a GPU; says in one line where there is none.
gpu: $(ENV)
	PYTHONPATH=. .venv/bin/python benchmarks/gpu.py

# Released normalisation layers, each framework in an environment of its own; a framework that
# cannot be installed or run here is passed over with its reason, and measured elsewhere.
conform:
	for framework in $(FRAMEWORKS); do \
		$(MAKE) conform-$$framework || echo "$$framework: not measured here"; \
	done
	$(MAKE) docs

# XLA compiles each operation for each shape; its cache spares the next layer that.
conform-%: export JAX_COMPILATION_CACHE_DIR = build/conform/xla
conform-%: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
conform-%: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
conform-%: build/conform/%/.installed
	for survey in $(or $(SURVEYS_$*),$*); do \
		build/conform/$*/bin/python -m verify.conform.survey $$survey || exit 1; \
	done

# Right layers of every make, in every mode at every case, from ten seeds: none may be called wrong.
alarms: $(ENV)
	.venv/bin/python tests/conform/zoo/many_seeds.py --seeds 10

# What other checkers notice of the faults that the tests plant.
checkers: build/conform/jax/.installed
	PYTHONPATH=tests/conform/zoo build/conform/jax/bin/python benchmarks/other_checkers.py \
		> docs/measured/other_checkers.json

build/conform/%/.installed: pyproject.toml constraints.txt constraints-conform.txt
	$(PYTHON) -m venv build/conform/$*
	build/conform/$*/bin/pip install --quiet -c constraints.txt -c constraints-conform.txt \
		-e '.[$(or $(EXTRAS_$*),conform-$*)]'
	touch $@

# The library's own tests, the doctests and the planted wrong formulas.  They start many Pythons, so
# what one compiles is kept for the next; files go out in the order of their names, which has the
# short ones last.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(ENV)
	$(RUN) pytest -n auto --dist loadfile --no-loadscope-reorder --doctest-modules --doctest-glob='*.md' \
		tests README.md docs/guides/formulas.md docs/guides/methods.md docs/guides/conform.md theory \
		verify/witnesses verify/audit verify/campaign verify/commands verify/convolutions verify/datasets \
		verify/experiments verify/kernel verify/site verify/tolerance verify/subjects/convolutions.py \
		$(filter-out verify/test_claims.py verify/conftest.py,$(wildcard verify/*.py)) \
		$(addprefix verify/conform/,cases.py conventions.py examiner.py geometry.py installed.py oracle.py report.py run.py words.py)

lint: $(ENV)
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	.venv/bin/lint-imports

# The site, from the evidence of the last run.
docs: $(ENV)
	$(RUN) verify page
	$(RUN) sphinx -W --keep-going -j auto -d docs/_build/doctrees -b html docs docs/_build/html

# The wheel in an empty environment, outside of the checkout; then what other Pythons would install.
package: $(ENV)
	rm -rf build/package
	.venv/bin/pip wheel --quiet --no-deps -w build/package .
	$(PYTHON) -m venv build/package/env
	build/package/env/bin/pip install --quiet -c constraints.txt "$$(echo build/package/*.whl)[verify]"
	cd build/package && env/bin/python -m verify ledger | tail -1
	for version in 3.12 3.13; do \
		.venv/bin/pip install --quiet --dry-run --python-version $$version --only-binary=:all: \
			--target build/package/$$version -c constraints.txt "$$(echo build/package/*.whl)[verify]" || exit 1; \
	done

# PyTorch's profiler, which measures memory, would write two lines of its own for each contender.
bench: export KINETO_LOG_LEVEL := 99
bench: $(ENV)
	PYTHONPATH=. .venv/bin/python benchmarks/bench.py
	PYTHONPATH=. .venv/bin/python benchmarks/bench_statistics.py

# pip would compile what it installs on one core; some packages hold files that no Python compiles.
$(ENV): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install --quiet --upgrade pip -c constraints.txt
	.venv/bin/pip install --quiet --no-compile -c constraints.txt -e '.[verify,nn,docs,dev,optimal]'
	$(RUN) compileall -qq -j 0 -x /tests/ .venv/lib || true
	touch $@

clean:
	rm -rf .venv build evidence docs/_build docs/generated
