#!/usr/bin/env bash
# Checks pit on a GPU: on a machine with a driver and Python (numpy, torch, CuPy),
# with compute-sanitizer, without LLVM, from artifacts that
# tools/build-gpu-artifacts.sh made elsewhere:
#
#   tools/check-gpu.sh ARTIFACTS [OPTION...]
#
# Options are those of test/GPU/check_gpu.py, which says what is checked. The last
# line counts what passed and failed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[[ $# -ge 1 && $1 != -* ]] || {
  echo "usage: tools/check-gpu.sh ARTIFACTS [OPTION...]" >&2
  exit 2
}
artifacts=$1
shift
export PYTHONUNBUFFERED=1
exec "${PYTHON:-python3}" "$root/test/GPU/check_gpu.py" --artifacts "$artifacts" "$@"
