#!/usr/bin/env bash
# Checks pit.torch.distributed on a machine with several GPUs that reach each other, over NCCL, with
# Python and torch. PIT_RUNTIME_LIBRARY says where pit's libraries are, as for any program of it.
#
#   tools/check-distributed.sh [OPTION...]
#
# Options are those of test/GPU/check_distributed.py, which says what is checked. --repeat=1000 is
# a long check. The last line counts what passed and failed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONUNBUFFERED=1
exec "${PYTHON:-python3}" "$root/test/GPU/check_distributed.py" "$@"
