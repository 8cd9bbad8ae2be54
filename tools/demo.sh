#!/usr/bin/env bash
# Sets pit up (tools/setup.sh) and runs the digits example: a neural network on
# real handwritten digits, its layers compiled by pit. Arguments are passed on
# to examples/digits/digits.py.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PIT_BUILD_DIR=${PIT_BUILD_DIR:-$root/build}

# Only what the example needs; tools/check.sh builds the rest.
"$root/tools/setup.sh" PITCompiler pit_runtime pit_call pit-run
printf '\n== digits (%s s)\n' "$SECONDS"
exec /usr/bin/python3 "$root/examples/digits/digits.py" \
  --build "$PIT_BUILD_DIR" "$@"
