#!/bin/sh
# Stands for ptxas, called as `ptxas -arch=CHIP FROM -o TO --split-compile=0`: a "cubin"
# that names the chip and ends in NULs. It says $PTXAS_SAYS and ends with $PTXAS_ENDS. With
# $PTXAS_OLD it knows no --split-compile.
if [ -n "$PTXAS_OLD" ] && [ -n "$5" ]; then
  echo "ptxas fatal   : Unknown option '-split-compile'" >&2
  exit 1
fi
if [ -n "$PTXAS_SAYS" ]; then
  printf '%s\nand more\n' "$PTXAS_SAYS" >&2
fi
grep -q '^\.target ' "$2" || exit 9
printf '\177ELF for %s\0\0' "$1" > "$4"
exit "${PTXAS_ENDS:-0}"
