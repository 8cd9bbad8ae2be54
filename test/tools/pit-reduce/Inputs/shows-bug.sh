#!/bin/sh
# The bug, exit code 1, is any mark by lengths.
! grep -q "pit.sparse.*lengths" "$1"
