#!/usr/bin/env python3
"""How long does a warm call of a program from Python take?

    PIT_RUNTIME_LIBRARY=build/lib/libpit_runtime.so benchmarks/python/call.py [--device=cuda]

Compiles a sparse product of 4x4 matrices, calls it on arrays of numpy and torch, with and
without out=, and prints the shortest of many means, beside the same framework's own add. On
a device these are times of the host: it waits after each mean, outside of the time.
"""

import argparse
import sys
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import pit  # noqa: E402

PROGRAM = """
func.func @matmul(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>)
    -> tensor<4x4xf32> {
  %s = pit.sparse %a : tensor<4x4xf32>
  %r = linalg.matmul ins(%s, %b : tensor<4x4xf32>, tensor<4x4xf32>)
         outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""


def shortest(call, number, repeat, wait):
    """Microseconds of a call: the least mean of `number` calls, of `repeat` means."""
    timer = timeit.Timer(call)
    times = []
    for _ in range(repeat + 1):
        times.append(timer.timeit(number))
        wait()
    return min(times[1:]) / number * 1e6


def frameworks(device):
    """(name, make an array of 4x4 ones, add) of each that is installed."""
    if device == "cpu":
        try:
            import numpy
            yield "numpy", lambda: numpy.ones((4, 4), numpy.float32), numpy.add
        except ImportError:
            pass
    try:
        import torch
        yield "torch", lambda: torch.ones(4, 4, device=device), torch.add
    except ImportError:
        pass
    if device == "cuda":
        try:
            import cupy
            yield "CuPy", lambda: cupy.ones((4, 4), cupy.float32), cupy.add
        except ImportError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--program", help="made of this file's program by pit-compile")
    parser.add_argument("--number", type=int, default=2000, help="calls of a mean")
    parser.add_argument("--repeat", type=int, default=50, help="means")
    options = parser.parse_args()
    program = pit.load(options.program) if options.program else pit.compile(
        PROGRAM, target=options.device, chip="sm_90a" if options.device == "cuda" else None)
    entry = program.matmul
    wait = lambda: None
    if options.device == "cuda":
        import torch
        wait = torch.cuda.synchronize
    time = lambda call: shortest(call, options.number, options.repeat, wait)
    print(f"{'us a call':10} {'pit, out=':>10} {'pit':>10} {'add, out=':>10} {'add':>10}")
    for name, make, add in frameworks(options.device):
        a, b, c, out = make(), make(), make(), make()
        print(f"{name:10} {time(lambda: entry(a, b, c, out=out)):10.2f} "
              f"{time(lambda: entry(a, b, c)):10.2f} {time(lambda: add(a, b, out=out)):10.2f} "
              f"{time(lambda: add(a, b)):10.2f}")


if __name__ == "__main__":
    main()
