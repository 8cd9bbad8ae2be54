#!/usr/bin/env bash
# Sets up what pit needs on Debian 12 and builds it:
#
#   tools/setup.sh [TARGET...]      (default: all)
#
# Missing Debian packages are installed (the only step that needs root); the
# rest happens inside the build folder. Steps are skipped when there is nothing
# to do. Environment:
#
#   PIT_BUILD_DIR   build folder (default: build beside this checkout's README)
#   PIT_JOBS        parallel build jobs (default: the number of cores)
#   PIT_PRESET      a preset of CMakePresets.json to configure the folder by
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${PIT_BUILD_DIR:-$root/build}
jobs=${PIT_JOBS:-$(nproc)}

# The LLVM version stands in the top CMakeLists.txt only.
llvm=$(sed -n 's/^set(PIT_LLVM_VERSION \([0-9]*\))$/\1/p' "$root/CMakeLists.txt")

packages=(
  # The compiler: MLIR, its TableGen, the LLVM it comes with.
  "libmlir-$llvm-dev" "mlir-$llvm-tools" "llvm-$llvm-dev" "llvm-$llvm-tools"
  # The tools that build it, and the OpenMP runtime of generated code.
  "clang-$llvm" "lld-$llvm" "libomp-$llvm-dev" cmake ninja-build ccache
  libdlpack-dev libpng-dev python3-dev
  # Headers that the LLVM packages' CMake files look for.
  zlib1g-dev libzstd-dev libxml2-dev libcurl4-openssl-dev libedit-dev
  # Tests and examples. Python is the system's, which finds these packages.
  pkgconf "libclang-rt-$llvm-dev" "clang-format-$llvm" libcmocka-dev
  python3 python3-numpy python3-sklearn libopenblas0-pthread
  # pit-bench and its peers.
  libjansson-dev libdnnl-dev libxsmm-dev
  # The tools that fetch the assembler of device code.
  python3-pip
)

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
die() {
  echo "tools/setup.sh: $1" >&2
  exit 1
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is no Debian system: install what the list 'packages' in this file names, then run cmake by hand"
  local missing=() package
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "as root, run: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  step "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 \
    "${missing[@]}" </dev/null
}

# The assembler of NVIDIA's toolkit, for cubins and the tests of them: from PyPI, into
# the build folder, where the toolkit is not installed.
install_ptxas() {
  local own=$build/cuda/nvidia/cu13/bin/ptxas
  if command -v ptxas >/dev/null || [[ -x /usr/local/cuda/bin/ptxas || -x $own ]]; then
    return
  fi
  step "installing ptxas into $build/cuda"
  /usr/bin/python3 -m pip install -q --no-deps --target "$build/cuda" \
    'nvidia-cuda-nvcc>=13,<14' ||
    echo "tools/setup.sh: no ptxas; tests that assemble device code are skipped" >&2
  if [[ -x $own ]]; then
    echo "tools/setup.sh: with PIT_PTXAS=$own in the environment pit-compile makes cubins"
  fi
}

build_targets() {
  if [[ ! -e $build/build.ninja ]]; then
    step "configuring $build"
    cmake ${PIT_PRESET:+--preset "$PIT_PRESET"} -G Ninja -S "$root" -B "$build"
  fi
  step "building"
  NINJA_STATUS='[%f/%t, %e s] ' ninja -C "$build" -j "$jobs" "$@"
}

install_packages
install_ptxas
build_targets "$@"
