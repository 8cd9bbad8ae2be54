# RUN: %python %s
# REQUIRES: pit-compile
"""The language of pit.jit, construct by construct, against numpy."""

import math
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import pit  # noqa: E402
from pit import tile  # noqa: E402

random = np.random.default_rng()
CASES = []


def dense(*shape, dtype="f"):
    return random.standard_normal(shape).astype(dtype)


def whole(*shape, dtype="i"):
    return random.integers(-100, 100, shape).astype(dtype)


def case(function, *arguments):
    """What is decorated computes the same as a tile program."""
    def keep(reference):
        CASES.append((function, arguments, reference))
        return reference
    return keep


# -- Loops --


@pit.jit
def steps(x: tile.f32["M", "N"], *, count=3, m=8):
    """A parallel loop in a sequential one, on a tensor that changes."""
    M, N = x.shape
    y = tile.copy(x)
    for t in tile.for_range(count):
        for i, j in tile.forall((0, M, m), (0, N, m)):
            tile.swrite(y[i, j], tile.sread(y[i, j]) * 2.0 + 1.0)
    return y


@case(steps, dense(20, 30))
def _(x):
    return ((x * 2 + 1) * 2 + 1) * 2 + 1


@pit.jit
def differences(x: tile.f32["N"], *, n=8, offset=0):
    """The result is smaller than what is read by the same variable."""
    N, = x.shape
    y = tile.empty((N - 1,), tile.f32)
    for i in tile.forall((0, N - 1, n)):
        tile.swrite(y[i], tile.sread(x[i + 1]) - tile.sread(x[i + offset]))
    return y


@case(differences, dense(20))
@case(differences, dense(1))
def _(x):
    return np.diff(x)


@pit.jit
def rounded_sigmoid(x: tile.f16["N"], wanted: tile.f16["N"], *, n=32):
    """By how much more than a unit in the last place it is off: it is rounded once."""
    N, = x.shape
    y = tile.empty((N,), tile.f32)
    for i in tile.forall((0, N, n)):
        found, want = tile.sigmoid(tile.sread(x[i])), tile.sread(wanted[i])
        off = tile.abs(found.to(tile.f32) - want.to(tile.f32))
        tile.swrite(y[i], tile.maximum(off * 4096.0 - 1.0, 0.0))
    return y


BELOW_ZERO = np.linspace(-1, -0.001, 1000).astype("e")  # of which units are 1 / 4096


@case(rounded_sigmoid, BELOW_ZERO, (1 / (1 + np.exp(-BELOW_ZERO.astype("d")))).astype("e"))
def _(x, wanted):
    return np.zeros(len(x), "f")


@pit.jit
def neighbours(x: tile.f32["N"], *, m=8):
    """A sequential loop reads what it wrote."""
    N, = x.shape
    y = tile.copy(x)
    for i in tile.for_range(0, N, m):
        tile.swrite(y[i], tile.sread(y[i]) + tile.sread(y[i - m]))
    return y


@case(neighbours, dense(30))
def _(x):
    y = x.copy()
    for start in range(8, 30, 8):
        y[start: start + 8] += y[start - 8: start][: len(y[start: start + 8])]
    return y


@pit.jit
def ragged(x: tile.f32["B", "S"], n: tile.i32["B"], *, m=8):
    """Bounds that a tensor holds."""
    B, S = x.shape
    y = tile.zeros((B,), tile.f32)
    for b in tile.forall(B):
        stop = tile.number(tile.sread(n[b])).to(tile.index_type)
        acc = tile.zeros((), tile.f32)
        for j in tile.for_range(0, stop, m):
            acc += tile.sum(tile.where(tile.coords(j) < stop, tile.sread(x[b, j]), 0.0))
        tile.swrite(y[b], acc)
    return y


@case(ragged, dense(5, 30), np.array([0, 3, 30, 8, 9], "i"))
def _(x, n):
    return np.array([row[:stop].sum() for row, stop in zip(x, n)])


@pit.jit
def carried(x: tile.f32["M", "N"], *, m=4, n=8):
    """Several tiles through two loops, and two results."""
    M, N = x.shape
    y, z = tile.empty((M,), tile.f32), tile.empty((M,), tile.f32)
    for i in tile.forall((0, M, m)):
        a = tile.zeros((m,), tile.f32)
        b = tile.full((m,), 1.0, tile.f32)
        t = a
        for r in tile.for_range(2):
            for j in tile.for_range(0, N, n):
                t = tile.sread(x[i, j], pad=-1e30)
                a += tile.sum(tile.sread(x[i, j]), axis=-1)
                b = tile.maximum(b, tile.max(t, axis=1))
            b = b + a
        tile.swrite(y[i], a)
        tile.swrite(z[i], b)
    return y, z


@case(carried, dense(19, 20))
def _(x):
    total, top = x.sum(axis=1), x.max(axis=1)
    b = np.maximum(np.maximum(1, top) + total, top)
    return 2 * total, b + 2 * total


@pit.jit
def in_order(x: tile.f32["M", "N"], *, m=4, n=16):
    """Iterations that write the same."""
    M, N = x.shape
    y = tile.zeros((N,), tile.f32)
    for j, i in tile.forall((0, N, n), (0, M, m), conflicts="sequential"):
        tile.swrite(y[j], tile.sum(tile.sread(x[i, j]), axis=0), combine="add")
    return y


@case(in_order, dense(19, 20))
def _(x):
    return x.sum(axis=0)


@pit.jit
def last_wins(x: tile.f32["M", "N"], *, m=4) -> tile.f32[4, 16]:
    """Iterations that write the same, and do not combine it: enough of them for several threads."""
    M, N = x.shape
    y = tile.zeros((4, 16), tile.f32)
    for i in tile.forall((0, M, m), conflicts="sequential"):
        tile.swrite(y[tile.span(0, 4), tile.span(0, 16)], tile.sread(x[i, tile.span(0, 16)]))
    return y


@case(last_wins, dense(4000, 16))
def _(x):
    return x[-4:]


@pit.jit
def unrolled(x: tile.f32["N"], scale: tile.f32, k: tile.i32, *, m=8, shifts=(1, 2, 3)):
    """A loop over constants, numbers as arguments, another pad."""
    N, = x.shape
    y = tile.empty((N,), tile.f32)
    for i in tile.forall((0, N, m)):
        t = tile.sread(x[i])
        for s in shifts:
            t = t + tile.sread(x[i + s], pad=1.0)
        tile.swrite(y[i], t * scale + k.to(tile.f32))
    return y


@case(unrolled, dense(19), 2.5, 3)
def _(x, scale, k):
    padded = np.concatenate([x, np.ones(3)])
    return sum(padded[s: s + 19] for s in range(4)) * scale + k


@pit.jit
def stages(x: tile.f32["N"], *, m=8):
    """A loop reads what the one before has written; an iteration what it wrote itself."""
    N, = x.shape
    a, b, c = [tile.empty((N,), tile.f32), tile.empty((N,), tile.f32), tile.empty((N,), tile.f32)]
    for i in tile.forall((0, N, m)):
        tile.swrite(a[i], tile.sread(x[i]) + 1.0)
        tile.swrite(b[i], tile.sread(a[i]) * 2.0)
    for i in tile.forall((0, N, m)):
        tile.swrite(c[i], tile.sread(a[i]) * tile.sread(b[i]))
    return a, b, c


@case(stages, dense(30))
def _(x):
    return x + 1, 2 * (x + 1), 2 * (x + 1) ** 2


# -- Indices --


@pit.jit
def coordinates(x: tile.f32["N"], *, chunk=8):
    N, = x.shape
    live = tile.build_index(x, [1], 0)
    y = tile.zeros((N,), tile.f32)
    for ids in tile.forall(tile.ids(live, chunk=chunk)):
        tile.swrite(y[ids], tile.sread(x[ids]) * tile.coords(ids).to(tile.f32))
    return y


@case(coordinates, dense(30) * (random.random(30) < 0.5).astype("f"))
def _(x):
    return x * np.arange(30)


@pit.jit
def scattered(x: tile.f32["M", "N"], g: tile.f32["G", "N"], to: tile.i32["M", "S"], *, n=16,
              chunk=4):
    """Sums of the rows of each group, added to what is there."""
    M, N = x.shape
    G = g.shape[0]
    groups = tile.build_index(to, [1, 1], 0, source="routing", shape=(M, G))
    y = tile.copy(g)
    for j, e in tile.forall((0, N, n), G):
        acc = tile.zeros((n,), tile.f32)
        for ids in tile.for_ids(groups, e, chunk=chunk):
            acc += tile.sum(tile.sread(x[ids, j]), axis=0)
        tile.swrite(y[e, j], acc, combine="add")
    return y


@case(scattered, dense(19, 20), dense(5, 20), random.integers(0, 5, (19, 1)).astype("i"))
def _(x, g, to):
    y = g.astype("d")
    np.add.at(y, to[:, 0], x)
    return y


@pit.jit
def background(x: tile.f32["M", "N"], *, m=4, chunk=8):
    """What differs from 3, counted."""
    M, N = x.shape
    live = tile.build_index(x, [m, 1], 1, background=3.0)
    y = tile.empty((M, N), tile.i32)
    for i in tile.forall((0, M, m)):
        for j in tile.for_range(0, N, chunk):
            tile.swrite(y[i, j], 0)
    for i in tile.forall((0, M, m)):
        some = tile.count(live, i).to(tile.i32)
        for ids in tile.for_ids(live, i, chunk=chunk):
            tile.swrite(y[i, ids], some)
    return y


@case(background, np.where(random.random((10, 30)) < 0.1, 0, 3).astype("f"))
def _(x):
    y = np.zeros((10, 30), "i")
    for start in range(0, 10, 4):
        columns = (x[start: start + 4] != 3).any(axis=0)
        y[start: start + 4, columns] = columns.sum()
    return y


@pit.jit
def packed(a: tile.f32["M", "K"], b: tile.f32["K", "N"], *, m=8, n=8, k=8):
    """Live rows times live columns, of which there are as many as there are."""
    M, K = a.shape
    rows = tile.build_index(a, [1, 0], 0)
    columns = tile.build_index(b, [0, 1], 1)
    c = tile.empty((tile.count(rows), tile.extent(columns)), tile.f32)
    for ids in tile.forall(tile.ids(rows, chunk=m)):
        for jds in tile.for_ids(columns, chunk=n):
            acc = tile.zeros((m, n), tile.f32)
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(a[ids, p]), tile.sread(b[p, jds]))
            tile.swrite(c[ids.positions, jds.positions], acc)
    return c


# -- Tiles --


@pit.jit
def integers(x: tile.i32["N"], y: tile.i8["N"], *, m=16):
    N, = x.shape
    a, b, c = (tile.empty((N,), tile.i64), tile.empty((N,), tile.i1), tile.empty((N,), tile.f16))
    for i in tile.forall((0, N, m)):
        u = tile.sread(x[i])
        v = tile.sread(y[i]).to(tile.i32)
        t = (u // 3) * (v % 5) + (u << 2) - (v >> 1) + (u & 7 | 1 ^ v) - tile.abs(v)
        tile.swrite(a[i], t.to(tile.i64) + tile.coords(i).to(tile.i64))
        tile.swrite(b[i], (u > v) & ~(v == 0) | (u < -5) ^ (tile.minimum(u, 3) != v))
        tile.swrite(c[i], (-u + v).to(tile.f16))
    return a, b, c


@case(integers, whole(37), whole(37, dtype="b"))
def _(x, y):
    v = y.astype("i")
    t = (x // 3) * (v % 5) + (x << 2) - (v >> 1) + (x & 7 | 1 ^ v) - abs(v)
    return (t + np.arange(37), (x > v) & ~(v == 0) | (x < -5) ^ (np.minimum(x, 3) != v),
            (v - x).astype("e"))


@pit.jit
def reductions(x: tile.f32["A", "B", "C"], *, b=8, c=8):
    """One step of `b` and `c` covers them."""
    A, B, C = x.shape
    top, least = tile.empty((A,), tile.f32), tile.empty((A, B), tile.f32)
    some, every, times = (tile.empty((A,), tile.i1), tile.empty((A, C), tile.i1),
                          tile.empty((A, C), tile.f32))
    for i in tile.forall(A):
        t = tile.sread(x[i, 0:b, 0:c], pad=1.0)
        tile.swrite(top[i], tile.max(t))
        tile.swrite(least[i, 0:b], tile.min(t, axis=1))
        tile.swrite(some[i], tile.any(t > 1.5))
        tile.swrite(every[i, 0:c], tile.all(t > -1.0, axis=0))
        tile.swrite(times[i, 0:c], tile.prod(t, axis=0))
    return top, least, some, every, times


@case(reductions, dense(3, 8, 7))
def _(x):
    return (np.maximum(x.max(axis=(1, 2)), 1), np.minimum(x.min(axis=2), 1),
            (x > 1.5).any(axis=(1, 2)), (x > -1).all(axis=1), x.prod(axis=1))


@pit.jit
def made(x: tile.f32["M", "N"], *, m=4):
    """Sums along what no tensor has."""
    M, N = x.shape
    a, b, c = (tile.empty((M,), tile.i32), tile.empty((M,), tile.f32), tile.empty((M,), tile.f32))
    for i in tile.forall((0, M, m)):
        inside = (tile.coords(tile.span(0, 8)) < N)[None, :] & (tile.coords(i) >= 0)[:, None]
        tile.swrite(a[i], tile.sum(inside.to(tile.i32), axis=1))
        tile.swrite(b[i], tile.sum(tile.full((m, 8), 1.5, tile.f32), axis=1))
        tile.swrite(c[i], tile.sum(tile.sread(x[i, 0])[:, None] + tile.zeros((1, 8), tile.f32),
                                   axis=1))
    return a, b, c


@case(made, dense(5, 6))
def _(x):
    return np.full(5, 6, "i"), np.full(5, 12.0), 8 * x[:, 0]


@pit.jit
def functions(x: tile.f32["N"], *, n=64):
    N, = x.shape
    y = tile.empty((23, N), tile.f32)
    for i in tile.forall((0, N, n)):
        t = tile.sread(x[i])
        u = tile.abs(t) + 0.5
        values = (tile.exp(t), tile.exp2(t), tile.expm1(t), tile.log(u), tile.log2(u),
                  tile.log1p(u), tile.sqrt(u), tile.rsqrt(u), tile.sin(t), tile.cos(t),
                  tile.tanh(t), tile.erf(t), tile.floor(t), tile.ceil(t), tile.round(t),
                  tile.sigmoid(t), u ** t, u // 0.3, -t ** 2,
                  tile.exp(t, approximate=True), tile.exp2(t, approximate=True),
                  tile.fma(t, u, -1.5), tile.fma(2.0, t, t))
        all_of = tile.zeros((23, n), tile.f32)
        for row in range(23):
            at = (tile.coords(tile.span(0, 23)) == row)[:, None]
            all_of = tile.where(at, values[row][None, :], all_of)
        tile.swrite(y[0:23, i], all_of)
    return y


@case(functions, dense(100))
def _(x):
    x = x.astype("d")
    u = abs(x) + 0.5
    erf = np.vectorize(math.erf)
    return np.stack([
        np.exp(x), np.exp2(x), np.expm1(x), np.log(u), np.log2(u), np.log1p(u), np.sqrt(u),
        1 / np.sqrt(u), np.sin(x), np.cos(x), np.tanh(x), erf(x), np.floor(x), np.ceil(x),
        np.round(x), 1 / (1 + np.exp(-x)), u**x, u.astype("f") // np.float32(0.3), -x**2, np.exp(x),
        np.exp2(x), x * u - 1.5, 3 * x])


@pit.jit
def views(x: tile.f32["M", "N"], *, m=8):
    """Transposes, new dimensions, numbers and slices as subscripts."""
    M, N = x.shape
    y, z = tile.empty((N, M), tile.f32), tile.empty((M, N), tile.f32)
    for i, j in tile.forall((0, M, m), (0, N, m)):
        tile.swrite(y[j, i], tile.sread(x[i, j]).T * 2.0)
        first = tile.sread(x[0, j])[None] + tile.sread(x[i, 0:1])
        tile.swrite(z[i, j], first + tile.sread(x[i, tile.span(N - 1, 1)])[:, 0][:, None])
    return y, z


@case(views, dense(10, 33))
def _(x):
    return 2 * x.T, x[:1] + x[:, :1] + x[:, -1:]


@pit.jit
def whole_rows(x: tile.f32["M", "W"], *, W, m=4):
    """A size that is a constant for each program."""
    M = x.shape[0]
    assert W <= 64, "rows are long"
    y = tile.empty((M, W), tile.f32)
    for i in tile.forall((0, M, m)):
        t = tile.sread(x[i, :])
        t = tile.exp(t - tile.max(t, axis=1, keepdims=True))
        tile.swrite(y[i, :], t / tile.sum(t, axis=1, keepdims=True))
    return y


@case(whole_rows, dense(9, 30))
def _(x):
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


@pit.jit
def products(a: tile.tensor["M", "K"], b: tile.tensor["N", "K"], *, m=8, n=32, k=16):
    """Of narrow integers in wide ones, of what is computed, transposed, in either order."""
    M, K = a.shape
    N = b.shape[0]
    wide = tile.i32 if a.dtype == tile.i8 else a.dtype
    c = tile.empty((M, N), wide)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        acc = tile.full((m, n), 1, wide)
        for p in tile.for_range(0, K, k):
            part = a[i, p]
            x = tile.zeros(part.shape, part.dtype) - tile.sread(part)
            acc = tile.dot(x, tile.sread(b[j, p]).T) + acc
        tile.swrite(c[i, j], acc)
    return c


@case(products, whole(10, 33, dtype="b"), whole(40, 33, dtype="b"))
@case(products, dense(10, 33, dtype="d"), dense(40, 33, dtype="d"))
def _(a, b):
    a, b = (x.astype("l" if x.dtype == np.int8 else "d") for x in (a, b))
    return 1 - a @ b.T


@pit.jit
def rounded_up(x: tile.tensor["N"], n: tile.i32, *, size=5):
    """Of tiles and numbers as large as their type has them, and as small."""
    N, = x.shape
    y, z = tile.empty((N,), x.dtype), tile.empty((N,), tile.i32)
    for i in tile.forall((0, N, 8)):
        tile.swrite(y[i], tile.cdiv(tile.sread(x[i]), size))
        tile.swrite(z[i], tile.cdiv(n, size) + tile.cdiv(7, size))
    return y, z


@case(rounded_up, np.array([127, -128, 125, -125, 1, 0, -1, 6, 4], "b"), 2**31 - 1)
@case(rounded_up, np.array([2**31 - 1, -(2**31), 2**31 - 4, 9], "i"), -(2**31))
@case(rounded_up, np.array([2**63 - 1, -(2**63), 10, -9], "l"), 9)
def _(x, n):
    y = [-(-int(v) // 5) for v in x]
    return np.array(y), np.full(len(x), -(-n // 5) + 2)


@pit.jit
def bits_of_floats(x: tile.tensor["N"]):
    """In the order of the floats."""
    N, = x.shape
    integer, size = (tile.i64, 64) if x.dtype == tile.f64 else (tile.i32, 32)
    y, z = tile.empty((N,), integer), tile.empty((N,), integer)
    for i in tile.forall((0, N, 8)):
        bits = tile.bits(tile.sread(x[i]))
        tile.swrite(y[i], bits)
        tile.swrite(z[i], bits ^ ((bits >> size - 1) & ((1 << size - 1) - 1)))
    return y, z


@case(bits_of_floats, np.array([-np.inf, -2.5, -1e-42, 0, 1e-42, 1, 1.5, 3e38, np.inf], "f"))
@case(bits_of_floats, np.array([-np.inf, -2.5, -5e-324, 0, 5e-324, 1, 1.5, 1e308, np.inf]))
def _(x):
    bits = x.view("i" + x.dtype.str[2:])
    order = np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
    assert (np.diff(order) > 0).all()
    return bits, order


@pit.jit
def middle(a: tile.f32["M", "K"], w: tile.f32["E", "K", "N"], *, m=4, n=8, k=4):
    """Numbers cut the results out of the middle, and out of the end of another order."""
    M, K = a.shape
    E, _, N = w.shape
    c, d = tile.empty((M, E, N), tile.f32), tile.empty((N, M, E), tile.f32)
    for i, j, e in tile.forall((0, M, m), (0, N, n), E):
        acc = tile.full((m, n), 0.5, tile.f32)
        for r in tile.for_range(2):
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(a[i, p]), tile.sread(w[e, p, j]))
            acc = acc * 2.0
        tile.swrite(c[i, e, j], acc)
        tile.swrite(d[j, i, e], (acc + 1.0).T)
    return c, d


@case(middle, dense(9, 10), dense(3, 10, 17))
def _(a, w):
    product = np.einsum("mk,ekn->men", a.astype("d"), w)
    c = (2 * (0.5 + product) + product) * 2
    return c, c.transpose(2, 0, 1) + 1


class Language(unittest.TestCase):
    def test_cases(self):
        for function, arguments, reference in CASES:
            with self.subTest(function.__name__):
                got, wanted = function(*arguments), reference(*arguments)
                if not isinstance(wanted, tuple):
                    got, wanted = (got,), (wanted,)
                self.assertEqual(len(got), len(wanted))
                for mine, right in zip(got, wanted):
                    self.assertEqual(mine.shape, right.shape)
                    np.testing.assert_allclose(mine, right, rtol=1e-4, atol=1e-4)

    def test_packed(self):
        a = dense(20, 30) * (random.random((20, 1)) < 0.5).astype("f")
        b = dense(30, 25) * (random.random(25) < 0.5).astype("f")
        wanted = a[a.any(axis=1)].astype("d") @ b[:, b.any(axis=0)]
        with self.assertRaisesRegex(pit.Error, "give it with out="):
            packed(a, b)
        got = np.empty(wanted.shape, "f")
        packed(a, b, out=got)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)

    def test_cuda(self):
        for function, arguments, _ in CASES:
            with self.subTest(function.__name__):
                if function.__name__ == "products" and arguments[0].dtype == np.float64:
                    continue
                function.specialize(*arguments).compile(
                    target="cuda", chip="sm_90a", device_code="ptx")
        packed.specialize().compile(target="cuda", chip="sm_80", device_code="ptx")


if __name__ == "__main__":
    unittest.main()
