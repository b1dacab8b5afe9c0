# make run: set up the checkout, reproduce the figures.  make test: everything that must hold.
PYTHON ?= python3
BIN := .venv/bin
RUST_FILES := $(shell find crates -type f -not -name '*.md') $(wildcard docs/controllers/*.md) Cargo.toml Cargo.lock

.DELETE_ON_ERROR:
.PHONY: run test fuzz bench bench-kernel bench-quic docs reproduction clean setup kernel kernel-deps kernel-test measure

setup: .venv/extension

run: setup
	$(BIN)/ackclock reproduce --quick
	@echo "The page with all figures and verdicts: $(CURDIR)/results/index.html"

test: setup
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo test --quiet --workspace --exclude ackclock-py --features ackclock-quic/simulate
	cargo fmt --check --manifest-path examples/rust-control/Cargo.toml
	cargo clippy --quiet --manifest-path examples/rust-control/Cargo.toml --all-targets --target-dir target/examples -- -D warnings
	cargo test --quiet --manifest-path examples/rust-control/Cargo.toml --target-dir target/examples
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy --no-error-summary
	$(BIN)/stubtest ackclock._native --concise
	$(BIN)/pytest
	@if { command -v clang-19 || command -v clang-14 || command -v clang; } > /dev/null && command -v pkg-config > /dev/null && pkg-config --exists libelf; \
	then $(MAKE) --no-print-directory kernel-test; \
	else echo "make test: the controls in the kernel were not tried; make kernel-deps installs what that needs"; fi
	@echo "make test: everything passed"

# The emulated path and the campaigns: programs of their own.
measure:
	cargo build --quiet --release --package ackclock-link --package ackclock-measure

# With the controls in the kernel's TCP, which need clang and libelf to be built.
kernel: measure
	cargo build --quiet --release --package ackclock-kernel --features load

kernel-test:
	cargo clippy --quiet --package ackclock-kernel --features load --all-targets -- -D warnings
	cargo test --quiet --package ackclock-kernel --features load --test live

kernel-deps:
	apt-get install --yes --quiet clang-19 libelf-dev zlib1g-dev pkg-config iproute2 iperf3 \
		|| apt-get install --yes --quiet clang-14 libelf-dev zlib1g-dev pkg-config iproute2 iperf3
	-apt-get install --yes --quiet bpftool

# Coverage-guided fuzzing with the stable compiler: these flags are what cargo-fuzz would set.
FUZZ_SECONDS ?= 30
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
# Naming the target keeps the flags away from build scripts.
FUZZ_TARGET := $(shell rustc -vV | sed -n 's/^host: //p')
fuzz:
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --quiet --release --target $(FUZZ_TARGET) --target-dir ../target/fuzz
	mkdir -p target/fuzz/corpus-controls target/fuzz/corpus-scenarios
	cp scenarios/*.toml target/fuzz/corpus-scenarios
	cd target/fuzz && ./$(FUZZ_TARGET)/release/controls -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -verbosity=0 -print_funcs=0 corpus-controls
	cd target/fuzz && ./$(FUZZ_TARGET)/release/scenarios -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 -print_funcs=0 corpus-scenarios

bench: setup
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/sweep.py

# The kernel beside the simulator, figure 4b of TCP-FIT in the kernel, several flows on one bottleneck, and what a control
# costs; two and a half hours, as root.
bench-kernel: setup kernel
	$(BIN)/python benches/kernel.py

# The controls over QUIC: in virtual time, over the emulated link and loopback, and the adapter's share; ten minutes, as
# root, with perf (linux-perf).
bench-quic: setup measure
	$(BIN)/python benches/quic.py

# Everything of the five papers, what was tried on what differs, and docs/reproduction.md.
reproduction: setup
	$(BIN)/ackclock reproduce --full --vary
	$(BIN)/python docs/make.py reproduction

docs: setup
	UPDATE_DOCS=1 cargo test --quiet -p ackclock-scenario -p ackclock-sim --test curves --test reading
	$(BIN)/python docs/make.py

clean:
	rm -rf .venv target results .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/ackclock/*.so
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +

# The interpreter and the tools: made again only when the list of dependencies changes.
.venv/dependencies: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ackclock needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); print("\n".join(project["build-system"]["requires"] + project["project"]["dependencies"] + project["project"]["optional-dependencies"]["development"]))' > .venv/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r .venv/requirements.txt
	@touch $@

# The package, editable, with the extension in release mode: made again when any Rust file changes.
.venv/extension: .venv/dependencies $(RUST_FILES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@
