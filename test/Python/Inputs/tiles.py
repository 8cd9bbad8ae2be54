"""Tile programs, for the tests beside this folder."""

from setup import pit
from pit import tile

INF = float("inf")


@pit.jit
def matmul(a: tile.tensor["M", "K"], b: tile.tensor["K", "N"], *, m=32, n=128, k=64):
    M, K = a.shape
    N = b.shape[1]
    wide = tile.f64 if a.dtype == tile.f64 else tile.f32
    c = tile.empty((M, N), a.dtype)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        acc = tile.zeros((m, n), wide)
        for p in tile.for_range(0, K, k):
            acc += tile.dot(tile.sread(a[i, p]), tile.sread(b[p, j]))
        tile.swrite(c[i, j], tile.maximum(acc + 1.0, 0.0).to(a.dtype))
    return c


def product(a, b, rows, columns, shape, K, k):
    """The product of rows of a with columns of b."""
    acc = tile.zeros(shape, tile.f32)
    for p in tile.for_range(0, K, k):
        acc += tile.dot(tile.sread(a[rows, p]), tile.sread(b[p, columns]))
    return acc


@pit.jit
def rows(a: tile.f32["M", "K"], b: tile.f32["K", "N"], *, n=128, k=64, chunk=32):
    M, K = a.shape
    N = b.shape[1]
    live = tile.build_index(a, micro_tile=[1, 0], axis=0)
    c = tile.zeros((M, N), tile.f32)
    for j, ids in tile.forall((0, N, n), tile.ids(live, chunk=chunk)):
        tile.swrite(c[ids, j], product(a, b, ids, j, (chunk, n), K, k))
    return c


@pit.jit
def rows_of_index(a: tile.f32["M", "K"], b: tile.f32["K", "N"],
                  live: tile.index(micro_tile=[1, 0], axis=0), *, n=128, k=64, chunk=32):
    M, K = a.shape
    N = b.shape[1]
    c = tile.zeros((M, N), tile.f32)
    for j, ids in tile.forall((0, N, n), tile.ids(live, chunk=chunk)):
        tile.swrite(c[ids, j], product(a, b, ids, j, (chunk, n), K, k))
    return c


@pit.jit
def columns(a: tile.f32["M", "K"], b: tile.f32["K", "N"], *, m=32, n=128, chunk=64):
    M, K = a.shape
    N = b.shape[1]
    live = tile.build_index(a, micro_tile=[m, 1], axis=1)
    c = tile.empty((M, N), tile.f32)
    for i, j in tile.forall((0, M, m), (0, N, n)):
        acc = tile.zeros((m, n), tile.f32)
        for ids in tile.for_ids(live, i, chunk=chunk):
            acc += tile.dot(tile.sread(a[i, ids]), tile.sread(b[ids, j]))
        tile.swrite(c[i, j], acc)
    return c


@pit.jit
def batched(a: tile.f16["B", "M", "K"], b: tile.f16["B", "K", "N"], *, m=32, n=64, k=32):
    B, M, K = a.shape
    N = b.shape[2]
    c = tile.empty((B, M, N), tile.f16)
    for s, i, j in tile.forall(B, (0, M, m), (0, N, n)):
        acc = tile.zeros((m, n), tile.f32)
        for p in tile.for_range(0, K, k):
            acc += tile.dot(tile.sread(a[s, i, p]), tile.sread(b[s, p, j]))
        tile.swrite(c[s, i, j], acc.to(tile.f16))
    return c


@pit.jit
def experts(x: tile.f32["T", "K"], w: tile.f32["E", "K", "N"], to: tile.i32["T", "S"],
            gate: tile.f32["T", "E"], *, n=64, k=32, chunk=32):
    """Each token times the weights of its experts, one expert after another."""
    T, K = x.shape
    E, _, N = w.shape
    routing = tile.build_index(to, micro_tile=[1, 1], axis=0, source="routing", shape=(T, E))
    y = tile.zeros((T, N), tile.f32)
    for j in tile.forall((0, N, n)):
        for e in tile.for_range(E):
            for ids in tile.for_ids(routing, e, chunk=chunk):
                acc = tile.zeros((chunk, n), tile.f32)
                for p in tile.for_range(0, K, k):
                    acc += tile.dot(tile.sread(x[ids, p]), tile.sread(w[e, p, j]))
                weight = tile.sread(gate[ids, e])
                tile.swrite(y[ids, j], acc * weight[:, None], combine="add")
    return y


@pit.jit
def routed(x: tile.f32["T", "K"], w: tile.f32["E", "K", "N"], to: tile.i32["T", 1], *, n=64,
           k=32, chunk=32):
    """A token has one expert, so that no two experts write a row."""
    T, K = x.shape
    E, _, N = w.shape
    routing = tile.build_index(to, micro_tile=[1, 1], axis=0, source="routing", shape=(T, E))
    y = tile.zeros((T, N), tile.f32)
    for j, e in tile.forall((0, N, n), E, conflicts="none"):
        for ids in tile.for_ids(routing, e, chunk=chunk):
            acc = tile.zeros((chunk, n), tile.f32)
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(x[ids, p]), tile.sread(w[e, p, j]))
            tile.swrite(y[ids, j], acc)
    return y


@pit.jit
def atomic(x: tile.f16["T", "K"], w: tile.f16["E", "K", "N"], to: tile.i32["T", "S"],
           gate: tile.f32["T", "E"], *, n=64, k=32, chunk=64):
    """All experts at once, as a GPU can add."""
    T, K = x.shape
    E, _, N = w.shape
    routing = tile.build_index(to, micro_tile=[1, 1], axis=0, source="routing", shape=(T, E))
    y = tile.zeros((T, N), tile.f32)
    for j, e in tile.forall((0, N, n), E, conflicts="atomic"):
        for ids in tile.for_ids(routing, e, chunk=chunk):
            acc = tile.zeros((chunk, n), tile.f32)
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(x[ids, p]), tile.sread(w[e, p, j]))
            weight = tile.sread(gate[ids, e])
            tile.swrite(y[ids, j], acc * weight[:, None], combine="add")
    return y


@pit.jit
def softmax(x: tile.f32["M", "N"], mask: tile.i1["M", "N"], *, m=8, chunk=32):
    """Over what the mask selects; the rest is 0."""
    M, N = x.shape
    live = tile.build_index(mask, micro_tile=[m, 1], axis=1, source="mask")
    y = tile.zeros((M, N), tile.f32)
    for i in tile.forall((0, M, m)):
        top = tile.full((m,), -INF, tile.f32)
        total = tile.zeros((m,), tile.f32)
        for ids in tile.for_ids(live, i, chunk=chunk):
            s = tile.where(tile.sread(mask[i, ids]), tile.sread(x[i, ids]), -INF)
            higher = tile.maximum(top, tile.max(s, axis=1))
            base = tile.where(higher == -INF, 0.0, higher)
            power = tile.sum(tile.exp(s - base[:, None]), axis=1)
            total = total * tile.exp(top - base) + power
            top = higher
        for ids in tile.for_ids(live, i, chunk=chunk):
            s = tile.where(tile.sread(mask[i, ids]), tile.sread(x[i, ids]), -INF)
            share = tile.exp(s - top[:, None]) / total[:, None]
            tile.swrite(y[i, ids], tile.where(s == -INF, 0.0, share))
    return y


@pit.jit
def layer_norm(x: tile.f32["M", "N"], scale: tile.f32["N"], shift: tile.f32["N"], eps: tile.f32,
               *, m=8, n=64):
    M, N = x.shape
    live = tile.build_index(x, micro_tile=[1, 0], axis=0)
    y = tile.zeros((M, N), tile.f32)
    for ids in tile.forall(tile.ids(live, chunk=m)):
        total = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            total += tile.sum(tile.sread(x[ids, j]), axis=1)
        mean = total / N.to(tile.f32)
        square = tile.zeros((m,), tile.f32)
        for j in tile.for_range(0, N, n):
            d = tile.sread(x[ids, j]) - mean[:, None]
            d = tile.where((tile.coords(j) < N)[None, :], d, 0.0)
            square += tile.sum(d * d, axis=1)
        root = tile.rsqrt(square / N.to(tile.f32) + eps)
        for j in tile.for_range(0, N, n):
            d = (tile.sread(x[ids, j]) - mean[:, None]) * root[:, None]
            tile.swrite(y[ids, j], d * tile.sread(scale[j]) + tile.sread(shift[j]))
    return y


@pit.jit
def sddmm(a: tile.f32["M", "K"], b: tile.f32["N", "K"], mask: tile.i1["M", "N"], *, m=16, k=32,
          chunk=32):
    """Of a times b transposed, what the mask wants."""
    M, K = a.shape
    N = b.shape[0]
    live = tile.build_index(mask, micro_tile=[m, 1], axis=1, source="mask")
    c = tile.zeros((M, N), tile.f32)
    for i in tile.forall((0, M, m)):
        for ids in tile.for_ids(live, i, chunk=chunk):
            acc = tile.zeros((m, chunk), tile.f32)
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(a[i, p]), tile.sread(b[ids, p]).T)
            tile.swrite(c[i, ids], tile.where(tile.sread(mask[i, ids]), acc, 0.0))
    return c


def silu(x):
    return x * tile.sigmoid(x)


@pit.jit
def swiglu(a: tile.tensor["N"], b: tile.tensor["N"], *, size=256):
    N, = a.shape
    y = tile.empty((N,), a.dtype)
    for i in tile.forall((0, N, size)):
        t = silu(tile.sread(a[i]).to(tile.f32)) * tile.sread(b[i]).to(tile.f32)
        tile.swrite(y[i], t.to(a.dtype))
    return y


@pit.jit
def padded(x: tile.f32["B", "S", "K"], lengths: tile.i32["B"], w: tile.f32["K", "N"], *, n=32,
           k=16, chunk=8):
    """A layer on the rows that are there."""
    B, S, K = x.shape
    N = w.shape[1]
    live = tile.build_index(lengths, [1, 1, 0], axis=1, source="lengths", shape=(B, S, K))
    y = tile.zeros((B, S, N), tile.f32)
    for b, j in tile.forall(B, (0, N, n)):
        for ids in tile.for_ids(live, b, chunk=chunk):
            acc = tile.zeros((chunk, n), tile.f32)
            for p in tile.for_range(0, K, k):
                acc += tile.dot(tile.sread(x[b, ids, p]), tile.sread(w[p, j]))
            tile.swrite(y[b, ids, j], acc)
    return y


@pit.jit
def by_lists(a: tile.f32["H", "M", "K"], b: tile.f32["K", "N"], order: tile.i32["H", "M"], *, m=32, n=64, k=32):
    """Rows in the order of lists, written where they are."""
    H, M, K = a.shape
    N = b.shape[1]
    c = tile.empty((H, M, N), tile.f32)
    for h, i, j in tile.forall(H, (0, M, m), (0, N, n)):
        rows = tile.listed(order[h, i])
        acc = tile.zeros((m, n), tile.f32)
        for p in tile.for_range(0, K, k):
            acc += tile.dot(tile.sread(a[h, rows, p]), tile.sread(b[p, j]))
        tile.swrite(c[h, rows, j], acc + tile.coords(rows)[:, None].to(tile.i32).to(tile.f32))
    return c
