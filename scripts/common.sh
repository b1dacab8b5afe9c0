# Sourced by the scripts: where things are, how Rust is tested, and what this machine can do.
# shellcheck shell=bash disable=SC2034
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
BIN=.venv/bin
PYTHON=${PYTHON:-python3}

# uv of this machine, else of the registry, and the environment that it fills.
uv() {
    local installed
    installed=$(type -P uv || true)
    if ! test -x $BIN/python; then
        "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ackclock needs Python 3.11 or newer: make PYTHON=python3.11")'
        "$PYTHON" -m venv ${installed:+--without-pip} .venv
    fi
    if test -z "$installed"; then
        installed=$BIN/uv
        # An environment that another uv made has no pip.
        test -x $installed || $BIN/python -m pip --version > /dev/null 2>&1 || $BIN/python -m ensurepip > /dev/null
        test -x $installed || $BIN/python -m pip install --quiet --disable-pip-version-check --no-compile uv==0.13.9
    fi
    UV_PROJECT_ENVIRONMENT=.venv "$installed" "$@"
}

# Documentation tests would ask the make that runs everything for its tokens, which only a make gets.
unset MAKEFLAGS MFLAGS
# Tests start hundreds of processes: none of them should compile Python again, even where the environment asks for that.
unset PYTHONDONTWRITEBYTECODE

# The groups of pyproject.toml that tests need.
TESTED=(development notebooks cluster gym)
# What `make test` runs; the rest is for `make test-all`.
CORE=(tests --ignore=tests/satellites python/ackclock python/ackclock_papers)
SATELLITES=(tests/satellites python/ackclock_evaluate python/ackclock_gym python/ackclock_paths python/ackclock_search python/ackclock_suites)
# It loads controls into the kernel, so `make kernel-test` runs it.
KERNEL_STORY=tests/satellites/test_kernel_story.py::test_a_kernel_developer

# Whether tests may make network namespaces with TUN devices; the one made here is removed at once.
can_emulate() { { command -v ss && unshare --net ip tuntap add dev ack-probe mode tun; } > /dev/null 2>&1; }
can_build_loader() {
    { { command -v clang-19 || command -v clang-14 || command -v clang; } && pkg-config --exists libelf; } > /dev/null 2>&1
}
can_load() { can_emulate && { test -e /sys/kernel/btf/vmlinux && command -v iperf3; } > /dev/null 2>&1; }
can_deny() { cargo deny --version > /dev/null 2>&1; }
can_count() { { test "$(uname -m)" = x86_64 && command -v valgrind; } > /dev/null 2>&1; }
host() { rustc -vV | sed -n 's/^host: //p'; }

# The crates that decide the results of a run, and those around them: the kernel's loader, the emulated path, campaigns.
CORE_CRATES=(--package ackclock-units --package ackclock-cc --package ackclock-scenario --package ackclock-trace
    --package ackclock-sim --package ackclock-kernel)
# Together with ackclock-quic, so that common dependencies have the same features and are compiled once.
SATELLITE_CRATES=(--package ackclock-kernel --package ackclock-link --package ackclock-measure --package ackclock-quic
    --features ackclock-quic/simulate)
LOADER=()
if can_build_loader; then LOADER=(--features ackclock-kernel/load); fi

# The laboratory in a web page, which the Python package shows: the engine as WebAssembly, built by the toolchain's own
# standard library or by Debian's compiler.
LAB_PAGE=python/ackclock/templates/lab.html
WASM=wasm32-unknown-unknown
wasm_by_rustup() { test -d "$(rustc --print sysroot)/lib/rustlib/$WASM/lib"; }
wasm_by_debian() { { test -x /usr/bin/rustc && command -v wasm-ld-19; } > /dev/null 2>&1; }

# The programs that a wheel contains, and the output of profile-guided optimisation.
PROGRAMS=python/ackclock_paths/programs
PGO=$PWD/target/pgo
