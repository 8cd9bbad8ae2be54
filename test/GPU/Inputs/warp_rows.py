"""Tile programs whose tiles are rows, which a warp has in registers, on the emulator and a CPU, compared
with numpy in float64.

    warp_rows.py PIT_RUN LIBCUDA CHIP
    warp_rows.py PIT_RUN cpu NAME
"""

import numpy as np
import pit
from pit import tile

from pit_run import PitRun, check_programs, draw_seed

inf = float("inf")


@pit.jit
def softmax(x: tile.tensor["M", "N"], *, n):
    """And in each row how many are above the mean, in f16 or f32."""
    M, N = x.shape
    y, above = tile.empty((M, N), x.dtype), tile.empty((M, N), tile.i1)
    count = tile.empty((M,), tile.i32)
    for i in tile.forall(M):
        row = tile.sread(x[i, tile.span(0, n)], pad=-inf).to(tile.f32)
        there = row > -inf
        mean = tile.sum(tile.where(there, row, 0.0)) / tile.sum(there.to(tile.i32)).to(tile.f32)
        powers = tile.exp(row - tile.max(row))
        tile.swrite(y[i, tile.span(0, n)], (powers / tile.sum(powers)).to(x.dtype))
        tile.swrite(above[i, tile.span(0, n)], row > mean)
        tile.swrite(count[i], tile.sum((row > mean).to(tile.i32)))
    return y, above, count


@pit.jit
def integers(x: tile.tensor["B", "M", "N"], *, n):
    """Of columns, whose elements are not neighbours: the largest, the least, a sum, and the place of the
    first largest."""
    B, M, N = x.shape
    most = tile.empty((B, N), x.dtype)
    least = tile.empty((B, N), x.dtype)
    total = tile.empty((B, N), x.dtype)
    place = tile.empty((B, N), tile.i32)
    for b, j in tile.forall(B, N):
        column = tile.sread(x[b, tile.span(0, n), j])
        places = tile.coords(tile.span(0, n)).to(tile.i32)
        there = tile.coords(tile.span(0, n)) < M
        top = tile.max(tile.where(there, column, -100))
        tile.swrite(most[b, j], top)
        tile.swrite(least[b, j], tile.min(tile.where(there, column, 100)))
        tile.swrite(total[b, j], tile.sum(column * 3).to(x.dtype))
        tile.swrite(place[b, j], tile.min(tile.where((column == top) & there, places, n)))
    return most, least, total, place


@pit.jit
def roots(x: tile.tensor["M", "N"], *, n):
    """Each row divided by its norm, some times over, until a number that the row itself has."""
    M, N = x.shape
    y = tile.zeros((M, N), x.dtype)
    for i in tile.forall(M):
        row = tile.sread(x[i, tile.span(0, n)])
        times = tile.number(tile.sum((row > 1.0).to(tile.i32))).to(tile.index_type)
        for _ in tile.for_range(times):
            row = row / tile.sqrt(tile.sum(row * row) + 1.0)
        tile.swrite(y[i, tile.span(0, n)], row)
    return y


def run_softmax(pit_run, rng, type_, M, N, n):
    x = (rng.standard_normal((M, N)) * 3).astype(type_)
    name = {"f2": "f16", "f4": "f32"}[type_]
    found = pit_run.results(softmax.specialize(getattr(tile, name)[M, N], n=n).mlir(), [x], 3)
    x = x.astype("d")
    powers = np.exp(x - x.max(1, keepdims=True))
    wanted, above = powers / powers.sum(1, keepdims=True), x > x.mean(1, keepdims=True)
    return (abs(found[0].astype("d") - wanted).max() < 1e-3 and (found[1] != above).sum() <= 1
            and (found[1].sum(1) == found[2]).all())


def run_integers(pit_run, rng, type_, B, M, N, n):
    x = rng.integers(-40, 40, (B, M, N)).astype(type_)
    name = {"i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64"}[type_]
    found = pit_run.results(integers.specialize(getattr(tile, name)[B, M, N], n=n).mlir(), [x], 4)
    wanted = x.max(1), x.min(1), x.sum(1) * 3, x.argmax(1)
    return all((y == w.astype(y.dtype)).all() for y, w in zip(found, wanted))


def run_roots(pit_run, rng, type_, M, N, n):
    x = rng.standard_normal((M, N)).astype(type_)
    name = {"f4": "f32", "f8": "f64"}[type_]
    found, = pit_run.results(roots.specialize(getattr(tile, name)[M, N], n=n).mlir(), [x])
    wanted = x.astype("d")
    for i, row in enumerate(wanted):
        for _ in range((x[i] > 1).sum()):
            row /= np.sqrt((row * row).sum() + 1)
    return abs(found - wanted).max() < 1e-5


def main():
    pit_run, rng = PitRun(), draw_seed()
    M = int(rng.integers(1, 40))
    cases = [(run_softmax, "f2", M, 256, 256), (run_softmax, "f4", M, int(rng.integers(97, 128)), 128),
             (run_softmax, "f4", 3, 64, 64), (run_softmax, "f4", 5, 96, 96), (run_softmax, "f2", 2, 2047, 2048),
             (run_softmax, "f4", 1, 1, 32), (run_integers, "i4", 2, 128, 3, 128), (run_integers, "i1", 1, 50, 9, 64),
             (run_integers, "i2", 3, 96, 2, 96), (run_integers, "i8", 1, 33, 4, 64), (run_roots, "f4", M, 160, 160),
             (run_roots, "f8", 3, 70, 128)]
    check_programs(pit_run, rng, cases)


main()
