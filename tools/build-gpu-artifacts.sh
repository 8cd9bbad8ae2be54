#!/usr/bin/env bash
# Makes what tools/check-gpu.sh and benchmarks/gpu need on a machine that has a
# GPU and no compiler:
#
#   tools/build-gpu-artifacts.sh OUT [OPTION...]
#
# Options are those of test/GPU/build.py: --target=cpu makes programs for
# `check-gpu.sh OUT --device cpu`, --drawn=N the number of random programs,
# --grid=N takes only every N-th of the grid, --programs=N of the programs in
# test/Programs (0: none), --only=REGEX those whose name matches,
# --options='--chip=sm_90a' goes to pit-compile (without it Hopper's schedule is not
# checked; its programs hold cubins, if there is ptxas), --assemble=PTXAS fails on kernels that spill. PIT_BUILD_DIR is the build folder (default: build). OUT gets a copy
# of the scripts, too, so that it is all that has to travel.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[[ $# -ge 1 && $1 != -* ]] || {
  echo "usage: tools/build-gpu-artifacts.sh OUT [OPTION...]" >&2
  exit 2
}
out=$1
shift
exec "${PYTHON:-/usr/bin/python3}" "$root/test/GPU/build.py" \
  --build "${PIT_BUILD_DIR:-$root/build}" --out "$out" "$@"
