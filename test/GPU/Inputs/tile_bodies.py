"""Tile programs whose loops over steps multiply what they computed, so that their mainloops
have a tile body: attentions and a perceptron, on the emulator, compared with numpy in float64.

    tile_bodies.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

What `pit-run --explain` says is in the output. The last line says how many programs were
right. Extents and values are drawn anew each
time; the seed is printed.
"""

import numpy as np
import pit
from pit import tile

from pit_run import PitRun, draw_seed

inf = float("inf")


def online(s, top, total):
    """The powers of a tile of scores, and what is carried: the largest score and the sum
    of the powers of each row. No score of a row may be there yet."""
    higher = tile.maximum(top, tile.max(s, axis=1))
    base = tile.where(higher == -inf, 0.0, higher)
    p = tile.exp(s - base[:, None], approximate=True)
    scale = tile.exp(top - base)
    return p, higher, scale, total * scale + tile.sum(p, axis=1)


@pit.jit
def attention(q: tile.tensor["H", "M", "D"], k: tile.tensor["H", "N", "D"],
              v: tile.tensor["H", "N", "E"], *, D, E, m, n, causal) -> tile.tensor["H", "M", "E"]:
    H, M, _ = q.shape
    N = k.shape[1]
    o = tile.empty((H, M, E), q.dtype)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, E), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, j, :]).T) * 0.125
            keys = tile.coords(j)[None, :]
            s = tile.where(keys < N, s, -inf)
            if causal:
                s = tile.where(keys <= tile.coords(i)[:, None], s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(q.dtype), tile.sread(v[h, j, :]))
        tile.swrite(o[h, i, :], (acc / total[:, None]).to(q.dtype))
    return o


@pit.jit
def masked(q: tile.f16["M", "D"], k: tile.f16["D", "N"], v: tile.f16["N", "D"],
           mask: tile.i1["M", "N"], bias: tile.f32["N"], *, D, m, n) -> tile.f32["M", "D"]:
    M, N = mask.shape
    live = tile.build_index(mask, micro_tile=[m, 1], axis=1, source="mask")
    o = tile.zeros((M, D), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, i, chunk=n):
            s = tile.dot(tile.sread(q[i, :]), tile.sread(k[:, ids])) + tile.sread(bias[ids])
            s = tile.where(tile.sread(mask[i, ids]), s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[ids, :]))
        rest = tile.where(total == 0.0, 1.0, total)
        tile.swrite(o[i, :], acc / rest[:, None])
    return o


@pit.jit
def selected(q: tile.f16["M", "D"], k: tile.f16["N", "D"], v: tile.f16["N", "D"],
             keep: tile.i1["N"], *, D, m, n) -> tile.f32["M", "D"]:
    """Keys that a mask has, for all rows."""
    M, N = q.shape[0], k.shape[0]
    live = tile.build_index(keep, micro_tile=[1], axis=0, source="mask")
    o = tile.zeros((M, D), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, chunk=n):
            s = tile.dot(tile.sread(q[i, :]), tile.sread(k[ids, :]).T)
            s = tile.where(tile.coords(ids)[None, :] >= 0, s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[ids, :]))
        rest = tile.where(total == 0.0, 1.0, total)
        tile.swrite(o[i, :], acc / rest[:, None])
    return o


@pit.jit
def by_blocks(q: tile.f16["H", "M", "D"], k: tile.f16["H", "N", "D"], v: tile.f16["H", "N", "D"],
              blocks: tile.i1["H", "P", "R"], *, D, m, n) -> tile.f32["H", "M", "D"]:
    """An id is the number of a block of n keys, which begin where it says."""
    H, M, _ = q.shape
    N = k.shape[1]
    live = tile.build_index(blocks, micro_tile=[1, 1, 1], axis=2, source="mask")
    o = tile.zeros((H, M, D), tile.f32)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, h, i.start // m, chunk=1):
            j = tile.span(tile.maximum(tile.number(tile.coords(ids)) * n, 0), n)
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, j, :]).T)
            s = tile.where(tile.coords(j)[None, :] < N, s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[h, j, :]))
        rest = tile.where(total == 0.0, 1.0, total)
        tile.swrite(o[h, i, :], acc / rest[:, None])
    return o


@pit.jit
def of_pages(q: tile.f16["B", "M", "D"], k: tile.f16["C", "S", "D"], v: tile.f16["C", "S", "D"],
             pages: tile.i32["B", "P"], lengths: tile.i32["B"], *, D, S, m) -> tile.f32["B", "M", "D"]:
    """Keys lie in pages, of which a table has the places, as many as a number in memory says."""
    B, M, _ = q.shape
    o = tile.zeros((B, M, D), tile.f32)
    for b, i in tile.forall(B, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        length = tile.number(tile.sread(lengths[b])).to(tile.index_type)
        for j in tile.for_range(0, length, S):
            page = tile.number(tile.sread(pages[b, j.start // S], pad=-1)).to(tile.index_type)
            s = tile.dot(tile.sread(q[b, i, :]), tile.sread(k[page, :, :]).T)
            here = tile.coords(j)[None, :] < length
            s = tile.where(here & (tile.full((1, S), page, tile.index_type) >= 0), s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[page, :, :]))
        rest = tile.where(total == 0.0, 1.0, total)
        tile.swrite(o[b, i, :], acc / rest[:, None])
    return o


@pit.jit
def of_two_values(q: tile.f16["M", "D"], k: tile.f16["N", "D"], v: tile.f16["N", "D"],
                  u: tile.f16["N", "D"], *, D, m, n) -> tile.f32["M", "D"]:
    """Two contractions multiply the same powers."""
    M, N = q.shape[0], k.shape[0]
    o = tile.empty((M, D), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        other = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            s = tile.dot(tile.sread(q[i, :]), tile.sread(k[j, :]).T) * 0.125
            s = tile.where(N > tile.coords(j)[None, :], s, -inf)
            p, top, scale, total = online(s, top, total)
            other = other * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(u[j, :]))
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[j, :]))
        tile.swrite(o[i, :], (acc - other * 0.25) / total[:, None])
    return o


@pit.jit
def alternating(x: tile.f16["M", "K"], w1: tile.f16["K", "H"], w2: tile.f16["H", "N"], *,
                K, N, m, n) -> tile.f32["M", "N"]:
    """Each step adds to the sums of the step before the last one."""
    M, H = x.shape[0], w1.shape[1]
    y = tile.empty((M, N), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, N), tile.f32)
        before = tile.zeros((m, N), tile.f32)
        for j in tile.for_range(0, H, n):
            h = tile.maximum(tile.dot(tile.sread(x[i, :]), tile.sread(w1[:, j])), 0.0)
            now = before + tile.dot(h.to(tile.f16), tile.sread(w2[j, :]))
            before = acc
            acc = now
        tile.swrite(y[i, :], acc + before * 2.0)
    return y


@pit.jit
def perceptron(x: tile.f16["M", "K"], w1: tile.f16["K", "H"], b1: tile.f16["H"],
               w2: tile.f16["H", "N"], old: tile.f32["M", "N"], *, K, N, m, n) -> tile.f32["M", "N"]:
    """Two layers, of which the hidden values never leave the registers."""
    M, H = x.shape[0], w1.shape[1]
    y = tile.empty((M, N), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, N), tile.f32)
        for j in tile.for_range(0, H, n):
            h = tile.dot(tile.sread(x[i, :]), tile.sread(w1[:, j])) + tile.sread(b1[j]).to(tile.f32)
            acc += tile.dot(tile.maximum(h, 0.0).to(tile.f16), tile.sread(w2[j, :]))
        tile.swrite(y[i, :], acc * 0.5 + tile.sread(old[i, :]))
    return y


@pit.jit
def routed(x: tile.bf16["M", "K"], w1: tile.bf16["H", "K"], w2: tile.bf16["N", "H"],
           kept: tile.i1["M"], gain: tile.f32["M"], *, K, N, m, n) -> tile.f32["M", "N"]:
    """Two layers of the rows that a mask has, with weights as torch stores them; row i is
    multiplied by i + gain[i]."""
    M, H = x.shape[0], w1.shape[0]
    live = tile.build_index(kept, micro_tile=[1], axis=0, source="mask")
    y = tile.zeros((M, N), tile.f32)
    for rows in tile.forall(tile.ids(live, chunk=m)):
        acc = tile.zeros((m, N), tile.f32)
        for j in tile.for_range(0, H, n):
            h = tile.dot(tile.sread(x[rows, :]), tile.sread(w1[j, :]).T)
            h = h * (tile.coords(rows).to(tile.i32).to(tile.f32) + tile.sread(gain[rows]))[:, None]
            acc += tile.dot(h.to(tile.bf16), tile.sread(w2[:, j]).T)
        tile.swrite(y[rows, :], acc)
    return y


@pit.jit
def with_logs(q: tile.f16["H", "M", "D"], k: tile.f16["H", "N", "D"], v: tile.f16["H", "N", "D"],
              *, D, m, n) -> (tile.f16["H", "M", "D"], tile.f32["H", "M"]):
    """An attention, and the logarithm of each row's sum of powers."""
    H, M, _ = q.shape
    N = k.shape[1]
    o = tile.empty((H, M, D), tile.f16)
    logs = tile.empty((H, M), tile.f32)
    for h, i in tile.forall(H, (0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            s = tile.dot(tile.sread(q[h, i, :]), tile.sread(k[h, j, :]).T) * 0.125
            s = tile.where(tile.coords(j)[None, :] < N, s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[h, j, :]))
        tile.swrite(logs[h, i], top + tile.log(total))
        tile.swrite(o[h, i, :], (acc / total[:, None]).to(tile.f16))
    return o, logs


@pit.jit
def partial(q: tile.f16["M", "D"], k: tile.f16["N", "D"], v: tile.f16["N", "D"],
            keep: tile.i1["N"], *, D, m, n) -> (tile.f32["M", "D"], tile.f32["M"], tile.f32["M"]):
    """What is carried of the keys that a mask has, to be joined with that of others."""
    M, N = q.shape[0], k.shape[0]
    live = tile.build_index(keep, micro_tile=[1], axis=0, source="mask")
    o = tile.zeros((M, D), tile.f32)
    tops = tile.zeros((M,), tile.f32)
    totals = tile.zeros((M,), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, D), tile.f32)
        top = tile.full((m,), -inf, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, chunk=n):
            s = tile.dot(tile.sread(q[i, :]), tile.sread(k[ids, :]).T)
            s = tile.where(tile.coords(ids)[None, :] >= 0, s, -inf)
            p, top, scale, total = online(s, top, total)
            acc = acc * scale[:, None] + tile.dot(p.to(tile.f16), tile.sread(v[ids, :]))
        tile.swrite(o[i, :], acc)
        tile.swrite(tops[i], tile.where(top == -inf, 0.0, top))
        tile.swrite(totals[i], total)
    return o, tops, totals


@pit.jit
def activated(x: tile.f16["M", "K"], w: tile.f16["K", "N"], *, m, n, k
              ) -> (tile.f32["M", "N"], tile.f16["M", "N"], tile.f32["N", "M"]):
    """A product, what of it is positive, and its square, transposed."""
    M, K = x.shape
    N = w.shape[1]
    y = tile.empty((M, N), tile.f32)
    positive = tile.empty((M, N), tile.f16)
    square = tile.empty((N, M), tile.f32)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        acc = tile.zeros((m, n), tile.f32)
        for r in tile.for_range(0, K, k):
            acc += tile.dot(tile.sread(x[i, r]), tile.sread(w[r, j]))
        tile.swrite(y[i, j], acc)
        tile.swrite(positive[i, j], tile.maximum(acc, 0.0).to(tile.f16))
        tile.swrite(square[j, i], (acc * acc).T)
    return y, positive, square


@pit.jit
def large(x: tile.f16["M", "K"], w: tile.f16["K", "N"], c: tile.f32["M", "N"], *, m, n, k, twice
          ) -> tile.f32["M", "N"]:
    """A product in tiles that no schedule takes, which is computed tile by tile."""
    M, K = x.shape
    N = w.shape[1]
    y = tile.empty((M, N), tile.f32)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        acc = tile.sread(c[i, j])
        for r in tile.for_range(0, K, k):
            acc += tile.dot(tile.sread(x[i, r]), tile.sread(w[r, j]))
        tile.swrite(y[i, j], acc + tile.sread(c[i, j]) if twice else acc)
    return y


@pit.jit
def gated(x: tile.f16["M", "K"], w: tile.f16["K", "N"], g: tile.f16["K", "G"], *, N, G, m, k
          ) -> tile.f32["M", "N"]:
    """A product whose steps are scaled by what is carried beside it, of other columns."""
    M, K = x.shape
    y = tile.empty((M, N), tile.f32)
    for i in tile.forall((0, M, m)):
        acc = tile.zeros((m, N), tile.f32)
        gate = tile.zeros((m, G), tile.f32)
        for r in tile.for_range(0, K, k):
            gate = tile.maximum(gate + tile.dot(tile.sread(x[i, r]), tile.sread(g[r, :])), 0.0)
            acc += tile.dot(tile.sread(x[i, r]), tile.sread(w[r, :])) * tile.max(gate, axis=1)[:, None]
        tile.swrite(y[i, :], acc)
    return y


@pit.jit
def ended(x: tile.f16["B", "M", "K"], w: tile.f16["B", "K", "N"], ends: tile.i64["B"], *, m, n, k
          ) -> tile.f32["B", "M", "N"]:
    """A product that ends where a number in memory says."""
    B, M, K = x.shape
    N = w.shape[2]
    y = tile.empty((B, M, N), tile.f32)
    for b, i, j in tile.forall(B, (0, M, m), (0, N, n)):
        acc = tile.zeros((m, n), tile.f32)
        for r in tile.for_range(0, tile.number(tile.sread(ends[b])).to(tile.index_type) * k, k):
            acc += tile.dot(tile.sread(x[b, i, r]), tile.sread(w[b, r, j]))
        tile.swrite(y[b, i, j], acc)
    return y


@pit.jit
def of_rows(x: tile.f16["M", "K"], w: tile.f16["K", "N"], kept: tile.i1["M"], *, K, N, m, n
            ) -> (tile.f32["M", "N"], tile.f32["M"], tile.f32["M"]):
    """Of the rows that a mask has, a product, and its largest value and sum by row."""
    M = x.shape[0]
    live = tile.build_index(kept, micro_tile=[1], axis=0, source="mask")
    y = tile.zeros((M, N), tile.f32)
    largest = tile.zeros((M,), tile.f32)
    sums = tile.zeros((M,), tile.f32)
    for rows in tile.forall(tile.ids(live, chunk=m)):
        acc = tile.zeros((m, N), tile.f32)
        for r in tile.for_range(0, K, n):
            acc += tile.dot(tile.sread(x[rows, r]), tile.sread(w[r, :]))
        tile.swrite(largest[rows], tile.max(acc, axis=1))
        tile.swrite(sums[rows], tile.sum(acc, axis=1))
        tile.swrite(y[rows, :], acc)
    return y, largest, sums


def softmax(s):
    most = s.max(-1, keepdims=True, initial=-inf)
    p = np.exp(s - np.where(most == -inf, 0, most))
    total = p.sum(-1, keepdims=True)
    return p / np.where(total == 0, 1, total)


def bf16_bits(x):
    """Rounded to bf16: as stored, and as float64."""
    bits = x.astype(np.float32).view(np.uint32)
    bits = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


class Cases:
    def __init__(self, draw):
        self.draw = draw

    def extent(self, most):
        return int(self.draw.integers(1, most))

    def f16(self, *shape):
        x = self.draw.standard_normal(shape).astype(np.float16)
        return x, x.astype(np.float64)

    def attention(self, bf16, d, e, m, n, causal):
        heads, rows, keys = 2, self.extent(3 * m), self.extent(150)
        if causal:
            keys = max(keys, rows)
        make = (lambda *s: bf16_bits(self.draw.standard_normal(s))) if bf16 else self.f16
        (q, qw), (k, kw), (v, vw) = make(heads, rows, d), make(heads, keys, d), make(heads, keys, e)
        s = 0.125 * qw @ kw.transpose(0, 2, 1)
        if causal:
            s = np.where(np.arange(keys) <= np.arange(rows)[:, None], s, -inf)
        types = [(tile.bf16 if bf16 else tile.f16)["H", r, w]
                 for r, w in (("M", d), ("N", d), ("N", e))]
        made = attention.specialize(*types, D=d, E=e, m=m, n=n, causal=causal)
        return made, [q, k, v], softmax(s) @ vw, 2e-2 if bf16 else 3e-3

    def masked(self, d, m, n, live_fraction):
        rows, keys = self.extent(3 * m), self.extent(200)
        (q, qw), (k, kw), (v, vw) = self.f16(rows, d), self.f16(d, keys), self.f16(keys, d)
        mask = self.draw.random((rows, keys)) < live_fraction
        bias = self.draw.standard_normal(keys).astype(np.float32)
        s = np.where(mask, qw @ kw + bias, -inf)
        made = masked.specialize(tile.f16["M", d], tile.f16[d, "N"], tile.f16["N", d],
                                 tile.i1["M", "N"], tile.f32["N"], D=d, m=m, n=n)
        return made, [q, k, v, mask, bias], softmax(s) @ vw, 3e-3

    def selected(self, d, m, n, live_fraction):
        rows, keys = self.extent(3 * m), self.extent(200)
        (q, qw), (k, kw), (v, vw) = self.f16(rows, d), self.f16(keys, d), self.f16(keys, d)
        keep = self.draw.random(keys) < live_fraction
        s = np.where(keep, qw @ kw.T, -inf)
        made = selected.specialize(tile.f16["M", d], tile.f16["N", d], tile.f16["N", d],
                                   tile.i1["N"], D=d, m=m, n=n)
        return made, [q, k, v, keep], softmax(s) @ vw, 3e-3

    def by_blocks(self, d, m, n, live_fraction):
        rows, keys = self.extent(3 * m), self.extent(5 * n)
        (q, qw), (k, kw), (v, vw) = (self.f16(2, length, d) for length in (rows, keys, keys))
        blocks = self.draw.random((2, -(-rows // m), -(-keys // n))) < live_fraction
        mask = blocks.repeat(m, 1)[:, :rows].repeat(n, 2)[:, :, :keys]
        s = np.where(mask, qw @ kw.transpose(0, 2, 1), -inf)
        made = by_blocks.specialize(tile.f16["H", "M", d], *2 * [tile.f16["H", "N", d]],
                                    tile.i1["H", "P", "R"], D=d, m=m, n=n)
        return made, [q, k, v, blocks], softmax(s) @ vw, 3e-3

    def of_pages(self, d, m, size, most):
        batch, rows, count = 3, self.extent(2 * m), 12
        (q, qw), (k, kw), (v, vw) = (
            self.f16(*shape) for shape in ((batch, rows, d), (count, size, d), (count, size, d)))
        table = -(-most // size)
        pages = self.draw.permutation(count)[:batch * table].reshape(batch, table).astype(np.int32)
        lengths = self.draw.integers(0, most + 1, batch).astype(np.int32)
        lengths[self.draw.integers(batch)] = 0
        pages[-1, -1] = -1
        wanted = []
        for b in range(batch):
            there = np.repeat(pages[b] >= 0, size) & (np.arange(table * size) < lengths[b])
            s = np.where(there, qw[b] @ kw[pages[b]].reshape(-1, d).T, -inf)
            wanted.append(softmax(s) @ vw[pages[b]].reshape(-1, d))
        made = of_pages.specialize(tile.f16["B", "M", d], *2 * [tile.f16["C", size, d]],
                                   tile.i32["B", "P"], tile.i32["B"], D=d, S=size, m=m)
        return made, [q, k, v, pages, lengths], np.stack(wanted), 3e-3

    def of_two_values(self, d, m, n):
        rows, keys = self.extent(3 * m), n + self.extent(300)
        (q, qw), (k, kw), (v, vw), (u, uw) = (
            self.f16(length, d) for length in (rows, keys, keys, keys))
        made = of_two_values.specialize(tile.f16["M", d], *3 * [tile.f16["N", d]], D=d, m=m, n=n)
        return made, [q, k, v, u], softmax(0.125 * qw @ kw.T) @ (vw - 0.25 * uw), 6e-3

    def alternating(self, k, width, m, n):
        rows, hidden = self.extent(3 * m), 4 * n + self.extent(100)
        (x, xw), (w1, w1w), (w2, w2w) = self.f16(rows, k), self.f16(k, hidden), self.f16(hidden, width)
        h = np.maximum(xw @ w1w, 0).astype(np.float16).astype(np.float64)
        parts = [h[:, j: j + n] @ w2w[j: j + n] for j in range(0, hidden, n)]
        made = alternating.specialize(tile.f16["M", k], tile.f16[k, "H"], tile.f16["H", width],
                                      K=k, N=width, m=m, n=n)
        return made, [x, w1, w2], sum(parts[::-2]) + 2 * sum(parts[-2::-2]), 3e-3

    def perceptron(self, k, width, m, n):
        rows, hidden = self.extent(3 * m), self.extent(150)
        (x, xw), (w1, w1w), (b1, b1w) = self.f16(rows, k), self.f16(k, hidden), self.f16(hidden)
        w2, w2w = self.f16(hidden, width)
        old = self.draw.standard_normal((rows, width)).astype(np.float32)
        h = np.maximum(xw @ w1w + b1w, 0)
        made = perceptron.specialize(tile.f16["M", k], tile.f16[k, "H"], tile.f16["H"],
                                     tile.f16["H", width], tile.f32["M", width],
                                     K=k, N=width, m=m, n=n)
        return made, [x, w1, b1, w2, old], h @ w2w * 0.5 + old, 3e-3

    def routed(self, k, width, m, n, live_fraction):
        rows, hidden = self.extent(3 * m), self.extent(150)
        numbers = [bf16_bits(self.draw.standard_normal(shape))
                   for shape in ((rows, k), (hidden, k), (width, hidden))]
        (x, xw), (w1, w1w), (w2, w2w) = numbers
        kept = self.draw.random(rows) < live_fraction
        gain = self.draw.standard_normal(rows).astype(np.float32)
        h = (xw @ w1w.T) * (np.arange(rows) + gain)[:, None]
        made = routed.specialize(tile.bf16["M", k], tile.bf16["H", k], tile.bf16[width, "H"],
                                 tile.i1["M"], tile.f32["M"], K=k, N=width, m=m, n=n)
        return made, [x, w1, w2, kept, gain], np.where(kept[:, None], h @ w2w.T, 0), 2e-2

    def with_logs(self, d, m, n):
        rows, keys = self.extent(3 * m), self.extent(200)
        (q, qw), (k, kw), (v, vw) = (self.f16(2, length, d) for length in (rows, keys, keys))
        s = 0.125 * qw @ kw.transpose(0, 2, 1)
        most = s.max(-1)
        logs = most + np.log(np.exp(s - most[..., None]).sum(-1))
        made = with_logs.specialize(tile.f16["H", "M", d], *2 * [tile.f16["H", "N", d]],
                                    D=d, m=m, n=n)
        return made, [q, k, v], (softmax(s) @ vw, logs), 3e-3

    def partial(self, d, m, n, live_fraction):
        rows, keys = self.extent(3 * m), self.extent(200)
        (q, qw), (k, kw), (v, vw) = (self.f16(length, d) for length in (rows, keys, keys))
        keep = self.draw.random(keys) < live_fraction
        s = np.where(keep, qw @ kw.T, -inf)
        most = s.max(-1, initial=-inf)
        base = np.where(most == -inf, 0, most)
        p = np.exp(s - base[:, None])
        made = partial.specialize(tile.f16["M", d], *2 * [tile.f16["N", d]], tile.i1["N"],
                                  D=d, m=m, n=n)
        return made, [q, k, v, keep], (p @ vw, base, p.sum(-1)), 3e-3

    def activated(self, m, n, k):
        rows, columns, inner = self.extent(3 * m), self.extent(3 * n), self.extent(4 * k)
        (x, xw), (w, ww) = self.f16(rows, inner), self.f16(inner, columns)
        y = xw @ ww
        made = activated.specialize(tile.f16["M", "K"], tile.f16["K", "N"], m=m, n=n, k=k)
        return made, [x, w], (y, np.maximum(y, 0), (y * y).T), 3e-3

    def large(self, m, n, k, twice):
        rows, columns, inner = self.extent(m), self.extent(n), self.extent(3 * k)
        (x, xw), (w, ww) = self.f16(rows, inner), self.f16(inner, columns)
        c = self.draw.standard_normal((rows, columns)).astype(np.float32)
        made = large.specialize(tile.f16["M", "K"], tile.f16["K", "N"], tile.f32["M", "N"],
                                m=m, n=n, k=k, twice=twice)
        return made, [x, w, c], xw @ ww + (1 + twice) * c.astype(np.float64), 3e-3

    def gated(self, n, g, m, k):
        rows, inner = self.extent(3 * m), self.extent(4 * k)
        (x, xw), (w, ww), (v, vw) = self.f16(rows, inner), self.f16(inner, n), self.f16(inner, g)
        wanted, gate = np.zeros((rows, n)), np.zeros((rows, g))
        for r in range(0, inner, k):
            part = xw[:, r: r + k]
            gate = np.maximum(gate + part @ vw[r: r + k], 0)
            wanted += part @ ww[r: r + k] * gate.max(-1, keepdims=True)
        made = gated.specialize(tile.f16["M", "K"], tile.f16["K", n], tile.f16["K", g],
                                N=n, G=g, m=m, k=k)
        return made, [x, w, v], wanted, 3e-3

    def ended(self, m, n, k):
        rows, columns, inner = self.extent(3 * m), self.extent(3 * n), self.extent(5 * k)
        (x, xw), (w, ww) = self.f16(3, rows, inner), self.f16(3, inner, columns)
        ends = self.draw.integers(0, 5, 3)
        wanted = [a[:, :end * k] @ b[:end * k] for a, b, end in zip(xw, ww, ends)]
        made = ended.specialize(tile.f16["B", "M", "K"], tile.f16["B", "K", "N"], tile.i64["B"],
                                m=m, n=n, k=k)
        return made, [x, w, ends], np.stack(wanted), 3e-3

    def of_rows(self, k, width, m, n, live_fraction):
        rows = self.extent(3 * m)
        (x, xw), (w, ww) = self.f16(rows, k), self.f16(k, width)
        kept = self.draw.random(rows) < live_fraction
        y = np.where(kept[:, None], xw @ ww, 0)
        made = of_rows.specialize(tile.f16["M", k], tile.f16[k, width], tile.i1["M"],
                                  K=k, N=width, m=m, n=n)
        return made, [x, w, kept], (y, y.max(-1), y.sum(-1)), 3e-3


def difference(result, wanted):
    if result.dtype.kind == "V":  # bf16
        result = (result.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert result.shape == wanted.shape
    return np.abs(result.astype(np.float64) - wanted).max() / max(1, np.abs(wanted).max())


def main():
    draw, run, right = draw_seed(), PitRun(), 0
    run.options.append("--explain")
    cases = Cases(draw)
    all_cases = {
        "attention": lambda: cases.attention(False, 64, 64, 64, 32, False),
        "causal, bf16": lambda: cases.attention(True, 128, 64, 128, 64, True),
        "few rows": lambda: cases.attention(False, 32, 96, 16, 64, True),
        "masked": lambda: cases.masked(64, 64, 32, 0.03),
        "masked, dense": lambda: cases.masked(32, 32, 64, 0.7),
        "selected": lambda: cases.selected(64, 64, 32, 0.3),
        "none selected": lambda: cases.selected(32, 16, 16, 0),
        "blocks of keys": lambda: cases.by_blocks(32, 32, 16, 0.5),
        "no blocks": lambda: cases.by_blocks(32, 32, 16, 0),
        "roles, blocks": lambda: cases.by_blocks(64, 128, 64, 0.5),
        "pages": lambda: cases.of_pages(32, 16, 16, 60),
        "roles, pages": lambda: cases.of_pages(64, 64, 64, 200),
        "products that end": lambda: cases.ended(64, 64, 64),
        "large tiles": lambda: cases.large(512, 256, 32, False),
        "large tiles, read twice": lambda: cases.large(512, 256, 32, True),
        "other columns": lambda: cases.gated(64, 32, 32, 32),
        "roles, other columns": lambda: cases.gated(64, 128, 64, 64),
        "perceptron": lambda: cases.perceptron(64, 80, 48, 32),
        "perceptron, wide": lambda: cases.perceptron(64, 192, 128, 64),
        "rows": lambda: cases.routed(64, 64, 64, 64, 0.4),
        # On sm_90a some warps load and others multiply: of two and of three warpgroups.
        "roles": lambda: cases.attention(False, 64, 128, 192, 64, False),
        "roles, masked": lambda: cases.masked(64, 128, 64, 0.03),
        "roles, selected": lambda: cases.selected(128, 128, 64, 0.5),
        "roles, none selected": lambda: cases.selected(64, 192, 64, 0),
        "roles, rows": lambda: cases.routed(64, 64, 128, 128, 0.4),
        "roles, two values": lambda: cases.of_two_values(64, 128, 64),
        "roles, alternating": lambda: cases.alternating(64, 64, 128, 64),
        # Several results.
        "logarithms": lambda: cases.with_logs(32, 48, 32),
        "roles, logarithms": lambda: cases.with_logs(64, 128, 64),
        "parts": lambda: cases.partial(32, 32, 32, 0.5),
        "roles, parts": lambda: cases.partial(64, 64, 64, 0.3),
        "parts of nothing": lambda: cases.partial(64, 64, 64, 0),
        "activated": lambda: cases.activated(32, 48, 32),
        "roles, activated": lambda: cases.activated(64, 64, 64),
        "sums of rows": lambda: cases.of_rows(96, 80, 32, 32, 0.4),
        "roles, sums of rows": lambda: cases.of_rows(128, 64, 64, 64, 0.4),
    }
    if run.chip == "sm_90a":  # others have no shared memory for these
        all_cases["roles, 176 keys"] = lambda: cases.attention(False, 128, 128, 128, 176, True)
        all_cases["roles, 192 queries"] = lambda: cases.attention(True, 64, 64, 192, 128, True)
        # More rows than warps that only load can have beside them: all of four warpgroups do.
        all_cases["256 queries"] = lambda: cases.attention(True, 64, 128, 256, 64, True)
        all_cases["256 rows"] = lambda: cases.routed(64, 64, 256, 64, 0.4)
    taken = run.some(all_cases.items(), draw)
    for name, case in taken:
        made, arrays, wanted, limit = case()
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        found = run.results(made.mlir(), arrays, len(wanted))
        off = np.inf
        if found is not None:
            off = max(difference(*both) for both in zip(found, wanted))
        right += bool(off < limit)
        if not off < limit:
            print(f"{name}, {[a.shape for a in arrays]}: off by {off}")
    print(f"{right} of {len(taken)} programs are right")


main()
