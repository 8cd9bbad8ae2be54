#!/usr/bin/env python3
"""Compiles the functions that plain_check.py calls (test/Runtime/plain-functions.mlir),
by way of MLIR's own gpu-to-llvm. Usage: plain_build.py --build BUILD --out DIR
[--chip CHIP] [--device-code ptx|auto]"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120  # seconds for one tool
# By file, when the rules are chosen.
PROGRAMS = {"plain-functions.so": "run-time", "plain-functions-now.so": "now"}


def run_pipe(commands, target):
    """Runs commands, each on what the one before printed; None, or what failed says."""
    data = b""
    for command in commands:
        done = subprocess.run([str(c) for c in command], input=data, capture_output=True,
                              timeout=TIMEOUT)
        if done.returncode:
            return f"{Path(command[0]).name}: {done.stderr.decode(errors='replace').strip()}"
        data = done.stdout
    target.write_bytes(data)
    return None


def build_one(build, target, libraries, options):
    cache = (build / "CMakeCache.txt").read_text()
    llvm = Path(re.search(r"^LLVM_DIR:PATH=(.*)$", cache, re.M)[1]).parents[2] / "bin"
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.M)[1]
    passes = (f"pit-functions-to-kernels{{{options}}},pit-eliminate-empties,"
              "one-shot-bufferize{bufferize-function-boundaries "
              "function-boundary-type-conversion=identity-layout-map},"
              f"pit-functions-to-cuda{{{options}}}")
    others = ("nvvm-attach-target{chip=sm_80},gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm),"
              "convert-scf-to-cf,expand-strided-metadata,lower-affine,gpu-to-llvm,"
              "reconcile-unrealized-casts,gpu-module-to-binary{format=isa}")
    code = target.with_suffix(".ll")
    message = run_pipe(
        [[build / "bin" / "pit-opt", ROOT / "test/Runtime/plain-functions.mlir",
          f"--pass-pipeline=builtin.module({passes})"],
         [llvm / "mlir-opt", f"--pass-pipeline=builtin.module({others})"],
         [llvm / "mlir-translate", "--mlir-to-llvmir"]], code)
    if message is None:
        command = [compiler, "-O2", "-march=x86-64-v3", "-Wno-override-module", "-shared",
                   "-fPIC", code, ROOT / "test/Runtime/Inputs/mgpu-functions.c", "-o", target,
                   f"-L{libraries}", "-lpit_runtime", "-Wl,-rpath,$ORIGIN/lib"]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              timeout=TIMEOUT)
        message = f"{Path(compiler).name}: {done.stderr}" if done.returncode else None
    code.unlink(missing_ok=True)
    return message


def build(build_folder, out, libraries, chip="sm_80", device_code="ptx"):
    """None, or what failed says."""
    for name, choice in PROGRAMS.items():
        message = build_one(build_folder, out / name, libraries,
                            f"chip={chip} device-code={device_code} choice={choice}")
        if message:
            return message
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--device-code", default="ptx")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    return build(arguments.build, arguments.out, arguments.build / "lib", arguments.chip,
                 arguments.device_code)


if __name__ == "__main__":
    sys.exit(main())
