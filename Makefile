# make run: set up the checkout, reproduce the figures.  make test: everything that must hold; what this machine cannot
# run is listed at the end, and with REQUIRE_ALL=1 an error.
PYTHON ?= python3
BIN := .venv/bin
RUST_FILES := $(shell find crates -type f -not -name '*.md') $(wildcard docs/controllers/*.md) Cargo.toml Cargo.lock

# Tests start hundreds of processes: none of them is to compile Python again, even where the environment asks for that.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: run test rust-build rust-test live-test python-test lock deny sbom fuzz instructions pgo bench bench-kernel bench-l4s bench-stock bench-quic oracles docs reproduction inference adversaries clean setup kernel kernel-deps kernel-test link-test measure lab lab-deps lab-test lab-data charts wheel wheel-here wheel-test sdist site package

setup: .venv/extension

run: setup
	$(BIN)/ackclock reproduce --quick
	@echo "The page with all figures and verdicts: $(CURDIR)/results/index.html"
	@$(LAB_IS_BUILT) || echo "Its figures have no links into the laboratory: make lab-deps lab builds that"

# Whether this machine lets tests make network namespaces with TUN devices; the one made here goes away at once.
CAN_EMULATE := { command -v ss && unshare --net ip tuntap add dev ack-probe mode tun; } > /dev/null 2>&1
CAN_BUILD_LOADER := { { command -v clang-19 || command -v clang-14 || command -v clang; } && pkg-config --exists libelf; } > /dev/null 2>&1
CAN_LOAD := { test -e /sys/kernel/btf/vmlinux && command -v iperf3; } > /dev/null 2>&1
CAN_DENY := cargo deny --version > /dev/null 2>&1
CAN_COUNT := { test "$$(uname -m)" = x86_64 && command -v valgrind; } > /dev/null 2>&1

# Three at a time: while one waits or has but one thing to build, the others go on.
test:
	@$(MAKE) --no-print-directory --jobs 3 rust-test live-test python-test
	@not_run=; \
	$(CAN_EMULATE) || not_run="$$not_run - the emulated path: needs root, /dev/net/tun, ip and ss|"; \
	if ! $(CAN_BUILD_LOADER); then not_run="$$not_run - the controls in the kernel: need clang and libelf (make kernel-deps)|"; \
	elif ! { $(CAN_EMULATE) && $(CAN_LOAD); }; then not_run="$$not_run - the controls in the kernel: need root, BTF, ip, ss and iperf3|"; fi; \
	$(CAN_COUNT) || not_run="$$not_run - instructions per packet: need valgrind, on x86-64|"; \
	if $(CAN_DENY); then $(MAKE) --no-print-directory deny || exit 1; \
	else not_run="$$not_run - licences and sources of crates: need cargo-deny|"; fi; \
	if ! command -v tshark > /dev/null; then not_run="$$not_run - packet captures beside another reader: need tshark|"; fi; \
	$(LAB_IS_BUILT) || not_run="$$not_run - the laboratory in a web page: make lab-deps lab lab-test|"; \
	if test -z "$$not_run"; then echo "make test: everything passed"; \
	else echo "make test: what was run passed, but NOT EVERYTHING WAS RUN:"; printf %s "$$not_run" | tr '|' '\n'; test -z "$(REQUIRE_ALL)"; fi

# All tests in Rust are of one build, with the controls in the kernel where these can be built; make lab-test tests the
# web page. Documentation tests ask for the tokens of the make that runs everything, which programs that are no make do
# not get.
RUST_FEATURES = ackclock-quic/simulate$(shell $(CAN_BUILD_LOADER) && echo ,ackclock-kernel/load)
CARGO_TEST = env -u MAKEFLAGS -u MFLAGS cargo test --locked --quiet --workspace --exclude ackclock-py --exclude ackclock-web --features $(RUST_FEATURES)

rust-build:
	cargo fmt --all --check
	@cargo metadata --locked --quiet --format-version 1 --manifest-path fuzz/Cargo.toml > /dev/null
	cargo clippy --locked --quiet --workspace --all-targets --features $(RUST_FEATURES) -- -D warnings
	$(CARGO_TEST) --no-run

rust-test: rust-build
	$(CARGO_TEST)
	cargo fmt --check --manifest-path examples/rust-control/Cargo.toml
	cargo clippy --locked --quiet --manifest-path examples/rust-control/Cargo.toml --all-targets --target-dir target/examples -- -D warnings
	env -u MAKEFLAGS -u MFLAGS cargo test --locked --quiet --manifest-path examples/rust-control/Cargo.toml --target-dir target/examples

# What needs a machine of its own kind: mostly seconds that pass.
KERNEL_STORY = tests/test_stories.py::test_a_kernel_developer
live-test: rust-build setup
	@! $(CAN_EMULATE) || $(MAKE) --no-print-directory link-test
	@! { $(CAN_BUILD_LOADER) && $(CAN_EMULATE) && $(CAN_LOAD); } || $(MAKE) --no-print-directory kernel-test

python-test: setup
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy --no-error-summary
	$(BIN)/stubtest ackclock._native --concise --mypy-config-file tests/stubtest.ini
	$(BIN)/pytest --numprocesses 2 --dist worksteal --deselect $(KERNEL_STORY)
	@! $(CAN_COUNT) || $(MAKE) --no-print-directory .venv/instructions

# Licences, sources and duplicates of all crates, as deny.toml allows them. Advisories need a database from the network,
# which a build must not depend on: make deny ADVISORIES=1 fetches it.
deny:
	cargo deny --locked --workspace check --deny unmatched-skip bans licenses sources $(if $(ADVISORIES),advisories)
	for other in fuzz examples/rust-control; do \
		cargo deny --locked --config deny.toml --manifest-path $$other/Cargo.toml check --allow unmatched-skip bans licenses sources || exit 1; done
	@test -n "$(ADVISORIES)" || echo "make deny: advisories NOT CHECKED: their database is missing here; make deny ADVISORIES=1 fetches it"

# The versions of Python's packages that development and CI install, with their hashes, from the lists of pyproject.toml.
lock:
	{ $(PYTHON) -c 'import tomllib; print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]))'; } \
		| uv pip compile pyproject.toml - --extra development --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --quiet --output-file requirements.txt

# What a release is made of, as CycloneDX (cargo-cyclonedx; cyclonedx-bom from PyPI): the crates of each program and of the
# extension, and Python's packages. Paths of the machine that made it are nobody's business.
sbom:
	cargo cyclonedx --quiet --format json --spec-version 1.5 --all --all-features
	mkdir -p dist
	for file in crates/*/*.cdx.json; do \
		sed 's|$(CURDIR)|.|g' $$file > dist/$$(basename $$file) && rm $$file || exit 1; done
	cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --output-file dist/ackclock-python.cdx.json
	@ls dist/*.cdx.json

# The tests that need a machine of their own kind fail where it is another; make test decides whether to run them.
link-test:
	$(CARGO_TEST) --test live -- --ignored

kernel-test: setup
	$(CARGO_TEST) --test in_kernel -- --ignored
	ACKCLOCK_LINK=$(CURDIR)/target/debug/ackclock-link ACKCLOCK_KERNEL=$(CURDIR)/target/debug/ackclock-kernel $(BIN)/pytest $(KERNEL_STORY)

# The emulated path and the campaigns: programs of their own.
measure:
	cargo build --locked --quiet --release --package ackclock-link --package ackclock-measure

# With the controls in the kernel's TCP, which need clang and libelf to be built.
kernel: measure
	cargo build --locked --quiet --release --package ackclock-kernel --features load

# What Debian and Ubuntu call it; installing needs root, building does not: sudo make kernel-deps, then make kernel.
KERNEL_DEPS := libelf-dev zlib1g-dev pkg-config iproute2 iperf3
INSTALL := apt-get install --yes --quiet --no-install-recommends
kernel-deps:
	@test "$$(id -u)" = 0 || { echo "make kernel-deps: installing packages needs root; run sudo make kernel-deps" >&2; exit 1; }
	$(INSTALL) clang-19 $(KERNEL_DEPS) || $(INSTALL) clang-14 $(KERNEL_DEPS)
	-$(INSTALL) bpftool

# The laboratory in a web page: the engine as WebAssembly, by the toolchain's own standard library or by Debian's compiler,
# and the page around it, as a folder (lab/dist) and as one file, which the Python package shows.
LAB_PAGE := python/ackclock/templates/lab.html
LAB_IS_BUILT := test -e $(LAB_PAGE)
WASM := wasm32-unknown-unknown
WASM_BY_RUSTUP := test -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM)/lib"
WASM_BY_DEBIAN := { test -x /usr/bin/rustc && command -v wasm-ld-19; } > /dev/null 2>&1
DEBIAN_CARGO := RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19 /usr/bin/cargo
WEB := --quiet --profile web --package ackclock-web --lib --target $(WASM)

lab-deps:
	@if $(WASM_BY_RUSTUP); then echo "lab-deps: the standard library for WebAssembly is there"; \
	elif rustup target add $(WASM); then echo "lab-deps: rustup has added the standard library for WebAssembly"; \
	else echo "lab-deps: Debian's compiler for WebAssembly"; apt-get install --yes --quiet rustc-web cargo-web rust-web-src lld-19; fi
	@command -v npm > /dev/null || { echo "lab-deps: Node"; apt-get install --yes --quiet nodejs npm; }
	@command -v chromium > /dev/null || { echo "lab-deps: Chromium, for the tests"; apt-get install --yes --quiet chromium; }

lab/node_modules/.package-lock.json: lab/package-lock.json
	cd lab && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

lab: lab/node_modules/.package-lock.json
	@if $(WASM_BY_RUSTUP); then cargo build --locked $(WEB) && cp target/$(WASM)/web/ackclock_web.wasm target/engine.wasm; \
	elif $(WASM_BY_DEBIAN); then $(DEBIAN_CARGO) build $(WEB) -Z build-std=std,panic_abort --target-dir target/debian \
		&& cp target/debian/$(WASM)/web/ackclock_web.wasm target/engine.wasm; \
	else echo "make lab: no compiler for WebAssembly; make lab-deps installs one" >&2; exit 1; fi
	cargo run --locked --quiet --profile tool --package ackclock-web --features bind --bin ackclock-web-bind target/engine.wasm lab/engine
	cd lab && npm run --silent build
	cp lab/dist/lab.html $(LAB_PAGE)

# The charts of result pages, which are checked in, so that nobody needs Node to have them.
charts: lab/node_modules/.package-lock.json
	cd lab && npm run --silent charts

# The page as people use it, in Chromium, and its digests beside those of the engine outside of it.
lab-test: setup lab/node_modules/.package-lock.json
	@$(LAB_IS_BUILT) || { echo "make lab-test: there is no page; make lab builds it" >&2; exit 1; }
	cd lab && npm test --silent

# What the page knows of papers, paths and formulas.
lab-data: setup
	$(BIN)/python lab/data.py

# Coverage-guided fuzzing with the stable compiler: these flags are what cargo-fuzz would set. What Python reads is changed at
# random, without coverage.
FUZZ_SECONDS ?= 30
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
# Naming the target keeps the flags away from build scripts.
HOST := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_TARGETS := controls scenarios settings traces lines logs packets
fuzz: setup
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --locked --quiet --release --target $(HOST) --target-dir ../target/fuzz
	for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/corpus-$$target; \
		case $$target in scenarios) cp scenarios/*.toml target/fuzz/corpus-$$target;; \
			settings|traces|lines|logs|packets) cp fuzz/seeds/$$target/* target/fuzz/corpus-$$target;; esac; \
		(cd target/fuzz && ./$(HOST)/release/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -verbosity=0 -print_funcs=0 corpus-$$target) || exit 1; \
	done
	$(BIN)/python tests/hostile.py sweep points log plan --seconds $(FUZZ_SECONDS)

# Instructions per data packet, compared with those kept: a minute on two cores.
instructions: setup
	$(BIN)/python benches/instructions.py

# For make test: once per extension, since nothing else changes the counts.
.venv/instructions: .venv/extension benches/instructions.py benches/instructions.csv
	$(BIN)/python benches/instructions.py
	@touch $@

# What profile-guided optimisation gains: the extension built with a profile of what benches/train.py runs, and its digests,
# counts and times beside those of the extension without. As long as two builds from scratch, and two minutes.
PGO := $(CURDIR)/target/pgo
PGO_BUILD := cargo build --locked --quiet --release --package ackclock-py --target $(HOST) --target-dir $(PGO)
PGO_EXTENSION := $(PGO)/$(HOST)/release/lib_native.so
PGO_PAIRS ?= 5
pgo: setup
	rustup component add llvm-tools
	rm -rf $(PGO)/profiles
	RUSTFLAGS="-Cprofile-generate=$(PGO)/profiles" $(PGO_BUILD)
	$(BIN)/python benches/train.py $(PGO_EXTENSION) > /dev/null
	$$(rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata merge --output $(PGO)/profile $(PGO)/profiles
	RUSTFLAGS="-Cprofile-use=$(PGO)/profile" $(PGO_BUILD)
	$(BIN)/python benches/pgo.py $(PGO_EXTENSION) $(PGO)/profile --pairs $(PGO_PAIRS) $(PGO_OPTIONS)

# With Debian's valgrind and ns2.
bench: setup
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/startup.py
	$(BIN)/python benches/sweep.py
	$(BIN)/python benches/instructions.py --update
	$(BIN)/python benches/ns2.py

# Prague beside CUBIC behind DualPI2; a few minutes.
bench-l4s: setup
	$(BIN)/python benches/l4s.py

# The kernel's own BBR beside the simulator's, over the emulated link.
bench-stock: setup measure
	$(BIN)/python benches/stock.py

# The kernel beside the simulator, figure 4b of TCP-FIT in the kernel, several flows on one bottleneck, and what a control
# costs; two and a half hours, as root.
bench-kernel: setup kernel
	$(BIN)/python benches/kernel.py

# The controls over QUIC: in virtual time, over the emulated link and loopback, and the adapter's share; ten minutes, as
# root, with perf (linux-perf).
bench-quic: setup measure
	$(BIN)/python benches/quic.py

# What ns-2 and Linux do, which tests compare with, measured again: half an hour, with Debian's ns2, qemu-system-x86,
# iproute2 and cpio. git diff shows what differs.
oracles:
	$(PYTHON) tests/data/ns2/remake.py
	$(PYTHON) tests/data/linux/remake.py

# Everything of the five papers at the settings that were found; with more seeds what five cannot decide, where a run
# takes seconds; and docs/reproduction.md.
reproduction: setup
	$(BIN)/ackclock reproduce --full
	$(BIN)/ackclock reproduce --full --undecided --runs 20 illinois fit transient
	$(BIN)/python docs/make.py reproduction

# The settings that the papers had, looked for again: hours. What is found becomes part of the papers.
inference: setup
	$(BIN)/ackclock reproduce --infer
	for paper in results/*/inferred; do \
		cp -rT $$paper python/ackclock_papers/$$(basename $$(dirname $$paper))/inferred || exit 1; done

docs: setup
	UPDATE_DOCS=1 cargo test --locked --quiet -p ackclock-scenario -p ackclock-sim --test all -- curves:: reading::
	$(BIN)/python docs/make.py

# The pictures of docs/adversaries.md, from the scenarios in scenarios/found: what each of these was found by stands in
# its second line, and takes minutes.
adversaries: setup
	$(BIN)/python docs/make.py adversaries

# The wheel for any Linux with this glibc or a newer one, made with zig, with the programs link and measure in it; with
# WITH_KERNEL=1 the kernel's loader that make kernel has built, too, which needs this machine's glibc and libelf.
# A profile that make pgo has left is used (docs/performance.md).
GLIBC ?= 2.17
PROGRAMS := python/ackclock_paths/programs
WITH_PROFILE := $(if $(wildcard $(PGO)/profile),RUSTFLAGS="-Cprofile-use=$(PGO)/profile")
ZIG := PATH="$(CURDIR)/$(BIN):$$PATH"
wheel: .venv/packaging
	rm -rf dist/*.whl $(PROGRAMS)
	mkdir -p $(PROGRAMS)
	$(ZIG) $(BIN)/cargo-zigbuild zigbuild --locked --quiet --release --package ackclock-link --package ackclock-measure --target $(HOST).$(GLIBC)
	install -m 755 -s target/$(HOST)/release/ackclock-link target/$(HOST)/release/ackclock-measure $(PROGRAMS)
	test -z "$(WITH_KERNEL)" || install -m 755 -s target/release/ackclock-kernel $(PROGRAMS)
	@echo "wheel: $(if $(WITH_PROFILE),with the profile of make pgo,without a profile; make pgo makes one)"
	$(WITH_PROFILE) $(ZIG) $(BIN)/maturin build --quiet --release --strip --zig --compatibility manylinux_$(subst .,_,$(GLIBC)) --out dist
	rm -rf $(PROGRAMS)
	@ls dist/*.whl

# The same for machines like this one, by its own toolchain and without zig: what make setup has built, and the programs of
# make measure or those that are in the folder PROGRAMS_FROM.
wheel-here: setup $(if $(PROGRAMS_FROM),,measure)
	rm -rf dist/*.whl $(PROGRAMS)
	mkdir -p $(PROGRAMS)
	install -m 755 -s $(addprefix $(or $(PROGRAMS_FROM),target/release)/,ackclock-link ackclock-measure) $(PROGRAMS)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --quiet --release --out dist
	rm -rf $(PROGRAMS)
	@ls dist/*.whl

# The wheel in a fresh environment: what the README says, done.
wheel-test:
	rm -rf target/wheel-test
	$(PYTHON) -m venv target/wheel-test
	target/wheel-test/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	target/wheel-test/bin/python tests/installed.py

sdist: .venv/dependencies
	$(BIN)/maturin sdist --out dist

# The documentation site, with its links checked: target/site/html.
site: setup .venv/packaging
	NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/site/build.py

# What publishing the crates would upload, and cargo doc without a warning.
package:
	cargo package --locked --quiet --workspace --exclude ackclock-py --no-verify --allow-dirty
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --workspace --no-deps

clean:
	rm -rf .venv dist target results .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/ackclock/*.so
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +

# The interpreter and the tools, in the versions of requirements.txt, which lists everything: made again only when that
# changes. Python compiles a file when it first imports it: most of these never are.
.venv/dependencies: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ackclock needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes -r requirements.txt
	@touch $@

# What make wheel and make site need besides.
.venv/packaging: .venv/dependencies
	$(BIN)/python -c 'import tomllib; print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["packaging"]))' > .venv/packaging.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r .venv/packaging.txt
	@touch $@

# The package, editable, with the extension in release mode: made again when any Rust file changes.
.venv/extension: .venv/dependencies $(RUST_FILES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@
