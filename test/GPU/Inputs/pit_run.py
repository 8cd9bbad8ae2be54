"""What the scripts beside share: pit-run compiles programs that they draw, and runs them on
the emulator or the CPU. A script's arguments are

    [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]
    [--one-of=N] PIT_RUN cpu NAME [OPTIONS of pit-to-cpu]

With --one-of a run takes every N-th of its cases, from a random one on. LLVM optimizes every
fourth program, from a random one on, and all with --one-of=1: it would take most of the time.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def draw_seed():
    """Random numbers that are other ones each time; the seed is printed."""
    seed = int(np.random.default_rng().integers(2 ** 31))
    print("seed", seed, flush=True)
    return np.random.default_rng(seed)


def draw_floats(rng, shape, type_):
    """Random f32, f16 or bf16 as pit-run reads them: of bf16 the bits, cut off."""
    drawn = rng.standard_normal(shape).astype(np.float32)
    if type_ == "bf16":
        return (drawn.view(np.uint32) >> 16).astype(np.uint16)
    return drawn.astype(np.float16 if type_ == "f16" else np.float32)


def value(stored):
    """Such floats in float64."""
    if stored.dtype == np.uint16:
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float64)


def float8(bits, type_):
    """The values of 8-bit floats, without infinities and NaN."""
    mantissa = 3 if type_ == "f8E4M3FN" else 2
    exponent = (bits >> mantissa & (0x7F >> mantissa)).astype(int)
    fraction = (bits & (1 << mantissa) - 1) / 2.0**mantissa
    bias = 7 if mantissa == 3 else 15
    value = np.where(exponent, (1 + fraction) * 2.0 ** (exponent - bias),
                     fraction * 2.0 ** (1 - bias))
    return np.where(bits & 0x80, -value, value)


class PitRun:
    """The command that the script's arguments describe."""

    def __init__(self, arguments=None):
        arguments = list(arguments or sys.argv[1:])
        self.one_of = None
        if arguments[0].startswith("--one-of="):
            self.one_of = int(arguments.pop(0).removeprefix("--one-of="))
        program, library, chip, *options = arguments
        self.on_cpu = library == "cpu"
        self.program, self.chip = program, chip
        self.options = [f"--cpu={chip}"] if self.on_cpu else [
            "--target=cuda", f"--chip={chip}", "--device-code=ptx", f"--cuda-library={library}"]
        self.options += [f"--pipeline={option}" for option in options]
        self.programs = int(np.random.default_rng().integers(4))
        if self.one_of != 1:
            print(f"LLVM optimizes program {4 - self.programs} and every fourth after it", flush=True)

    def some(self, cases, rng):
        """Every N-th of the cases, from a random one on; all without --one-of=N."""
        cases = list(cases)
        step = max(1, min(self.one_of or 1, len(cases)))
        return cases[int(rng.integers(step))::step]

    def level(self):
        """The option of the next program for LLVM."""
        self.programs += 1
        turn = self.one_of == 1 or self.programs % 4 == 0
        return f"--opt-level={3 if turn else 0}"

    def results(self, text, arrays, count=1):
        """The `count` results of the function in `text` from arrays as they are stored; None,
        and a line, if pit-run fails."""
        ended, results = self.run(text, arrays, count)
        if ended.returncode:
            print(f"pit-run ended with {ended.returncode}: {' '.join(ended.args)}")
        return results

    def traced(self, text, arrays, count=1, options=()):
        """The same, and the names of the kernels that the emulator ran in a call; in their place
        what pit-run says, if it fails."""
        ended, results = self.run(text, arrays, count, options, capture_output=True, text=True,
                                  env={**os.environ, "PIT_EMULATOR_TRACE": "1"})
        if ended.returncode:
            return None, ended.stderr[-2000:]
        kernels = re.findall(r"emulator: (\w+)", ended.stdout + ended.stderr)
        # pit-run calls the function twice.
        return results, kernels[:len(kernels) // 2]

    def run(self, program, arrays, count, options=(), **how):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "program.mlir")
            source.write_text(program)
            names = [str(Path(folder, f"{i}.npy")) for i in range(len(arrays))]
            for name, array in zip(names, arrays):
                np.save(name, array)
            outs = [str(Path(folder, f"out{i}.npy")) for i in range(count)]
            ended = subprocess.run(
                [self.program, str(source), self.level(), *self.options, *options,
                 *[f"--arg={name}" for name in names], *[f"--out={out}" for out in outs]], **how)
            return ended, None if ended.returncode else [np.load(out) for out in outs]


def difference(dtype, found, wanted):
    """What is wrong with results of an attention, or nothing."""
    if not found:
        return "no result"
    for made, right in zip(found, wanted):
        nothing = np.isneginf(right)
        if (np.isneginf(made) != nothing).any():
            return "rows of nothing differ"
        off = abs(made.astype("d")[~nothing] - right[~nothing]).max(initial=0)
        if not off <= (8e-3 if dtype == "f2" else 1e-4) * max(1, abs(right[~nothing]).max(initial=0)):
            return f"off by {off}"
    return None


def check_layers(layers, check):
    """Runs `check(pit_run, rng, *layer)`, which says what is wrong, for some of the layers, and
    prints how many are right."""
    pit_run, rng = PitRun(), draw_seed()
    layers, right = pit_run.some(layers, rng), 0
    for layer in layers:
        wrong = check(pit_run, rng, *layer)
        right += not wrong
        print(*layer, wrong or "right", flush=True)
    print(f"{right} of {len(layers)} layers are right")


def check_programs(pit_run, rng, cases):
    """Runs `function(pit_run, rng, *arguments)`, which says whether a program is right, for each (function,
    *arguments), and prints how many are."""
    right = 0
    for function, *arguments in cases:
        is_right = bool(function(pit_run, rng, *arguments))
        right += is_right
        print(function.__name__, *arguments, "right" if is_right else "wrong", flush=True)
    print(f"{right} of {len(cases)} programs are right")
