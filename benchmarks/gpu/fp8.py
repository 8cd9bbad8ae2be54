#!/usr/bin/env python3
"""Products of 8-bit floats on a GPU: dense, with scales of rows and of blocks, and of chosen
rows, beside torch._scaled_mm, with and without its fast sums, and beside pit's own f16.
Weights are stored [n, k]. Prints
microseconds (the median of rounds in turns), TFLOP/s over what is multiplied, and the error
of 64 rows against float64.

    fp8.py [--sizes 4096,8192] [--rounds 9]
"""

import argparse
import statistics

import torch

import pit

ROWS = (100, 50, 25)  # percent of the rows that are there


def seconds(call, repeats):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / repeats


def race(calls, rounds):
    """Medians by name; everybody in turns."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds(call, 20))
    return {name: statistics.median(found) for name, found in times.items()}


def error(result, rows, a, b):
    wanted = a[rows].double() @ b.double().t()
    return ((result[rows].double() - wanted).norm() / wanted.norm()).item()


def scaled(a, b, fast):
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                    use_fast_accum=fast)


def scales_of(size, blocks):
    """Scales of rows and columns, or of 128 elements of a row and of 128 x 128 weights."""
    parts = size // 128
    shapes = ((size, parts), (parts, parts)) if blocks else ((size, 1), (1, size))
    return [torch.rand(shape, device="cuda") + 0.5 for shape in shapes]


def with_scales(a, b, blocks):
    """Calls by name, and the product in f64 of some rows."""
    size = a.shape[0]
    scale_a, scale_b = scales_of(size, blocks)
    # cuBLAS wants scales of a's blocks column by column.
    turned = scale_a.t().contiguous().t() if blocks else scale_a
    calls = {"pit": lambda: pit.scaled_matmul(a, b.t(), scale_a, scale_b, dtype=torch.bfloat16,
                                              dynamic=False),
             "_scaled_mm": lambda: torch._scaled_mm(a, b.t(), scale_a=turned, scale_b=scale_b,
                                                    out_dtype=torch.bfloat16)}

    def wanted(rows):
        def full(scale, shape):
            for axis, extent in enumerate(shape):
                scale = scale.repeat_interleave(extent // scale.shape[axis], axis)
            return scale.double()
        weights = b.t().double() * full(scale_b, (size, size))
        return (a[rows].double() * full(scale_a, (size, size))[rows]) @ weights

    return calls, wanted


def usable(calls):
    """The kinds that this version of torch can do."""
    found = {}
    for name, call in calls.items():
        try:
            call()
            found[name] = call
        except (RuntimeError, ValueError) as error:
            print(f"{name}: {str(error).splitlines()[0]}")
    return found


def report(title, size, part, times, errors):
    operations = 2.0 * size**3 * part
    for name, time in times.items():
        off = f"  off by {errors[name]:.2g}" if name in errors else ""
        rate = operations / time * 1e-12
        print(f"{title:26} {name:24} {time * 1e6:8.1f} us {rate:6.0f} TFLOP/s{off}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    for size in map(int, arguments.sizes.split(",")):
        wide = [torch.randn(size, size, device="cuda") for _ in range(2)]
        halves = [x.to(torch.float16) for x in wide]
        rows = torch.randperm(size, device="cuda")[:64]
        for kind in (torch.float8_e4m3fn, torch.float8_e5m2):
            a, b = (x.to(kind) for x in wide)
            calls = {"pit": lambda: pit.matmul(a, b.t(), sparse=None, dtype=torch.bfloat16,
                                               dynamic=False)}
            if kind is torch.float8_e4m3fn:  # cuBLAS takes no two factors of e5m2
                calls |= {"_scaled_mm": scaled(a, b, False),
                          "_scaled_mm, fast sums": scaled(a, b, True),
                          "pit, f16": lambda: pit.matmul(halves[0], halves[1].t(), sparse=None,
                                                         dynamic=False)}
            errors = {name: error(call(), rows, a, b) for name, call in calls.items()
                      if "f16" not in name}
            report(f"dense {size} {str(kind).removeprefix('torch.')}", size, 1, race(calls, arguments.rounds), errors)
        a, b = (x.to(torch.float8_e4m3fn) for x in wide)
        for blocks in (False, True):
            calls, wanted = with_scales(a, b, blocks)
            calls = usable(calls)
            exact = wanted(rows)
            errors = {name: ((call()[rows].double() - exact).norm() / exact.norm()).item()
                      for name, call in calls.items()}
            report(f"scales of {'blocks' if blocks else 'rows'} {size}", size, 1,
                   race(calls, arguments.rounds), errors)
        for percent in ROWS:
            there = torch.rand(size, device="cuda") < percent / 100
            mask = there[:, None].expand(size, size).contiguous()
            index = pit.build_index(mask, (1, 0), 0, source="mask")
            calls = {"pit": lambda: pit.linear(a, b, index=index, dtype=torch.bfloat16,
                                               dynamic=False),
                     "pit, f16": lambda: pit.linear(*halves, index=index, dynamic=False)}
            part = there.double().mean().item()
            kept = there.nonzero().flatten()[:64]
            errors = {"pit": error(calls["pit"](), kept, a, b)}
            report(f"rows {size}, {percent} %", size, part, race(calls, arguments.rounds), errors)


if __name__ == "__main__":
    main()
