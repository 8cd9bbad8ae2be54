#!/usr/bin/env python3
"""Breaks MLIR programs and compiles them.

Takes the inputs of the project's own tests, one part of a file at a time, changes
them as text and by their parts (lines, operands, types, numbers, ops of the same
form, attributes that other inputs have), and runs pit-opt on each: the parser and
verifiers of pit's ops, and pipelines; some as bytecode with bytes changed. An error
is fine. A crash, a failed assertion, an abort, or more than --timeout seconds of CPU
time is a failure: the input is written to --out, and the exit code is 1, unless no
function of pit was running: then it is MLIR's. The same --seed gives the same programs.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The first three are drawn most.
PIPELINES = ["--pit-to-tiles", "--pit-to-cpu", "--pit-to-cuda=chip=sm_90a"] * 4 + [
    "", "--pit-to-cuda=chip=sm_80", "--pit-to-cpu=choice=now", "--pit-to-gpu-tiles",
    "--pit-plan", "--pit-tile", "--pit-to-cpu=check-bounds=true", "--pit-functions-to-tiles",
    "--pit-functions-to-kernels", "--canonicalize --cse"]
NUMBERS = ["0", "1", "2", "-1", "3", "7", "8", "64", "65", "1024", "2147483648", "4294967296",
           "9223372036854775807", "-9223372036854775808", "99999999999999999999"]
TYPES = ["f32", "f16", "bf16", "f64", "i1", "i8", "i32", "i64", "index", "tf32", "f8E4M3FN", "i4", "f128",
         "complex<f32>", "none", "tuple<>", "vector<4xf32>", "!llvm.ptr", "memref<?xf32>", "tensor<*xf32>"]
# Ops of one form, each of which may stand in the place of another.
OPS = [
    "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minnumf arith.remf math.powf",
    "arith.addi arith.subi arith.muli arith.divsi arith.remui arith.maxsi arith.minui arith.andi arith.xori arith.shli",
    "math.exp math.sqrt math.absf math.tanh math.erf math.floor arith.negf",
    "arith.extf arith.truncf arith.sitofp arith.fptosi arith.extsi arith.extui arith.trunci arith.index_cast",
    "linalg.exp linalg.abs linalg.tanh linalg.copy linalg.negf",
    "linalg.add linalg.sub linalg.mul linalg.div linalg.max",
    "linalg.matmul linalg.batch_matmul linalg.mmt4d linalg.matvec linalg.vecmat linalg.dot linalg.contract",
    "linalg.conv_2d_nhwc_hwcf linalg.conv_2d_nchw_fchw linalg.conv_1d_nwc_wcf linalg.pooling_nhwc_sum",
    "tensor.extract_slice tensor.insert_slice tensor.collapse_shape tensor.expand_shape tensor.cast",
    "pit.forall pit.for", "pit.sread pit.swrite", "parallel reduction", "scf.for scf.forall scf.parallel",
]
SAME_FORM = {op: forms.split() for forms in OPS for op in forms.split()}
TOKEN = re.compile(r"[%@#!]?[\w.$]+|\"[^\"]*\"|->|.", re.DOTALL)


def read_inputs():
    inputs = []
    for path in sorted((ROOT / "test").rglob("*.mlir")) + sorted((ROOT / "examples").rglob("*.mlir")):
        for part in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
            part = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//"))
            if 20 < len(part.strip()) < 6000:
                inputs.append(part)
    return inputs


class Mutator:
    def __init__(self, inputs, rng):
        self.inputs, self.rng = inputs, rng
        # Attributes and types of pit, wherever they stand.
        self.pieces = sorted({piece for text in inputs
                              for piece in re.findall(r"[#!]pit\.\w+(?:<[^<>]*>)?|pit\.\w+", text)})

    def token(self, tokens):
        r = self.rng
        i = r.randrange(len(tokens))
        old = tokens[i]
        kind = r.randrange(8)
        if re.fullmatch(r"-?\d+", old) and kind < 5:
            tokens[i] = r.choice(NUMBERS)
        elif old in TYPES and kind < 5:
            tokens[i] = r.choice(TYPES)
        elif old.startswith("%") and kind < 5:
            tokens[i] = r.choice([t for t in tokens if t.startswith("%")])
        elif old in SAME_FORM and kind < 6:
            tokens[i] = r.choice(SAME_FORM[old])
        elif kind == 5 and self.pieces:
            tokens[i] = r.choice(self.pieces)
        elif kind == 6:
            del tokens[i]
        else:
            tokens[i:i + 1] = [old, r.choice(tokens)]

    def shape(self, text):
        """Another size, or none, in one shape."""
        sizes = list(re.finditer(r"(?<=[<x])(\d+|\?)(?=x)", text))
        if not sizes:
            return text
        at = self.rng.choice(sizes)
        size = self.rng.choice(NUMBERS[:11] + ["?", "?", "5", "33"])
        return text[:at.start()] + size.lstrip("-") + text[at.end():]

    def everywhere(self, text):
        """Another size or element type wherever there is one such: it stays sound."""
        r = self.rng
        if r.random() < 0.3:
            found = sorted(set(re.findall(r"\b(?:f32|f16|bf16|f64|i8|i32|i64)\b", text)))
            return re.sub(rf"\b{r.choice(found)}\b", r.choice(TYPES[:14]), text) if found else text
        found = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)))
        if not found:
            return text
        size = r.choice(["0", "1", "2", "3", "5", "7", "17", "33", "64", "100", "1000", "?"])
        return re.sub(rf"(?<=[<x]){r.choice(found)}(?=x)", size, text)

    def operation(self, text):
        """Another op of the same form in one place."""
        tokens = TOKEN.findall(text)
        places = [i for i, token in enumerate(tokens) if token in SAME_FORM]
        if places:
            i = self.rng.choice(places)
            tokens[i] = self.rng.choice(SAME_FORM[tokens[i]])
        return "".join(tokens)

    def lines(self, text):
        lines = text.splitlines()
        r = self.rng
        i = r.randrange(len(lines))
        kind = r.randrange(4)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(r.randrange(len(lines)), lines[i])
        elif kind == 2:
            lines.insert(i, r.choice(r.choice(self.inputs).splitlines()))
        else:
            j = r.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        return "\n".join(lines)

    def draw(self):
        r = self.rng
        # Small ones compile fast.
        text = min(r.choice(self.inputs), r.choice(self.inputs), key=len)
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            kind = r.randrange(20)
            if kind < 10:
                text = self.everywhere(text)
            elif kind < 13:
                text = self.operation(text)
            elif kind < 15:
                text = self.shape(text)
            elif kind < 16 and text.strip():
                text = self.lines(text)
            else:
                tokens = TOKEN.findall(text)
                if tokens:
                    self.token(tokens)
                text = "".join(tokens)
        return text.encode()


def run(command, data, timeout):
    """The exit code, None if there was no end, and what was said. The limit is of CPU
    time, since the machine may be busy; what waits for something ends by the clock."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 5))
    try:
        done = subprocess.run(command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=60 + 20 * timeout, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, b""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, done.stderr
    return done.returncode, done.stderr


def is_failure(code, said):
    return code is None or code < 0 or code > 1 or b"LLVM ERROR" in said or b"Sanitizer" in said \
        or b"runtime error:" in said


def key_of(code, said):
    """What failures of one cause have in common."""
    text = said.decode(errors="replace")
    for pattern in (r"Assertion `.*?' failed", r"LLVM ERROR: .*", r"[\w/.]+:\d+:\d+: runtime error: [a-z ]*",
                    r"ERROR: \w+Sanitizer: [\w-]+", r"UNREACHABLE executed at .*"):
        found = re.search(pattern, text)
        if found:
            break
    frames = [f for f in re.findall(r"(?:#\d+ 0x\w+ (?:in )?)?(\(?(?:mlir|llvm)::[\w:~]+)", text) if "sys::" not in f]
    return (found.group(0) if found else f"code {code}") + " " + " < ".join(frames[:3])


def is_upstream(code, said):
    """Did it happen without a function of pit on the stack?"""
    frames = [line for line in said.decode(errors="replace").splitlines() if re.match(r" *#\d+ 0x", line)]
    for frame in frames:
        if "MlirOptMain" in frame:
            return True
        if ".so" not in frame:  # pit-opt has pit in itself, and MLIR beside it
            return False
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--count", type=int, default=200, help="programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="at most")
    parser.add_argument("--timeout", type=int, default=10, help="of one program, in seconds of CPU time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="folder for failing inputs")
    arguments = parser.parse_args()
    opt = str(arguments.build / "bin" / "pit-opt")
    inputs = read_inputs()
    started = time.monotonic()
    found, seen, taken, ran = {}, {}, 0, 0

    def check(number):
        if time.monotonic() - started > arguments.seconds:
            return None
        rng = random.Random(f"{arguments.seed} {number}")
        mutator = Mutator(inputs, rng)
        data = mutator.draw()
        options = rng.choice(PIPELINES).split() + ["--allow-unregistered-dialect"] * (rng.random() < 0.1)
        if rng.random() < 0.1:
            made = subprocess.run([opt, "-", "--emit-bytecode"], input=rng.choice(inputs).encode(),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if made.returncode == 0:
                data = bytearray(made.stdout)
                for _ in range(rng.choice([1, 1, 2, 4])):
                    data[rng.randrange(len(data))] = rng.randrange(256)
                data = bytes(data)
        code, said = run([opt, "-", *options], data, arguments.timeout)
        return number, options, data, code, said

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(check, range(arguments.count)):
            if outcome is None:
                continue
            number, options, data, code, said = outcome
            ran += 1
            taken += code == 0
            if not is_failure(code, said):
                continue
            key = key_of(code, said)
            if key in found or key in seen:
                continue
            upstream = is_upstream(code, said)
            (seen if upstream else found)[key] = number
            print(f"{'MLIR fails' if upstream else 'FAILED'} {number}: pit-opt {' '.join(options)}: {key}", flush=True)
            if arguments.out:
                arguments.out.mkdir(parents=True, exist_ok=True)
                name = hashlib.sha256(key.encode()).hexdigest()[:12]
                (arguments.out / f"{name}.mlir").write_bytes(data)
                (arguments.out / f"{name}.txt").write_bytes(f"{' '.join(options)}\n{key}\n".encode() + said)
    print(f"mlir: {ran} programs, {taken} taken, {ran - taken} refused, {len(found)} kinds of failure, "
          f"{len(seen)} of MLIR itself, "
          f"{time.monotonic() - started:.0f} s")
    return int(bool(found) or not ran or not taken)


if __name__ == "__main__":
    sys.exit(main())
