"""Transformers: blocks of BERT, LLaMA and GPT, experts, patches of images."""

import math

import numpy as np

from builder import Builder
from suite import program

HEADS, SIZE = 3, 8
HIDDEN, INNER = HEADS * SIZE, 40


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layer_norm(x, weight, bias, epsilon=1e-5):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weight + bias


def rms_norm(x, weight, epsilon=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * weight


erf = np.vectorize(math.erf, otypes=[float])


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def silu(x):
    return x / (1 + np.exp(-x))


def attention(q, k, v, allowed):
    """Of (batch, position, head, element) arrays; `allowed` is broadcast to (batch, head,
    query, key)."""
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    weights = softmax(np.where(allowed, scores, -np.inf))
    return np.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*q.shape[:2], -1)


# -- BERT ------------------------------------------------------------------


def split_heads(b, x, heads, batch="B", length="S", together="G"):
    """(B S) x (heads SIZE) to (B heads) x S x SIZE."""
    x = b.expand(x, "[[0, 1], [2, 3]]", (batch, length, heads, SIZE))
    x = b.transpose(x, (0, 2, 1, 3))
    return b.collapse(x, "[[0, 1], [2], [3]]", (together, length, SIZE))


def join_heads(b, x, heads, tokens="T"):
    x = b.expand(x, "[[0, 1], [2], [3]]", ("B", heads, "S", SIZE))
    x = b.transpose(x, (0, 2, 1, 3))
    return b.collapse(x, "[[0, 1], [2, 3]]", (tokens, heads * SIZE))


def bert_text(_):
    b = Builder()
    x, mask = b.arg("x", "B", "S", HIDDEN), b.arg("mask", "B", "S", type="i1")
    flat = b.collapse(x, "[[0, 1], [2]]", ("T", HIDDEN))
    weights = [(b.arg(f"w{i}", HIDDEN, HIDDEN), b.arg(f"b{i}", HIDDEN)) for i in range(4)]
    norms = [(b.arg(f"g{i}", HIDDEN), b.arg(f"h{i}", HIDDEN)) for i in range(2)]
    up, up_bias = b.arg("up", INNER, HIDDEN), b.arg("up_bias", INNER)
    down, down_bias = b.arg("down", HIDDEN, INNER), b.arg("down_bias", HIDDEN)
    q, k, v = (split_heads(b, b.linear(flat, *w), HEADS) for w in weights[:3])
    scores = b.batch_matmul(q, b.transpose(k, (0, 2, 1)))
    scores = b.map(lambda e, a: e.divf(a, e.const(math.sqrt(SIZE))), scores)
    scores = b.expand(scores, "[[0, 1], [2], [3]]", ("B", HEADS, "S", "S"))
    low = b.expand(mask, "[[0], [1, 2, 3]]", ("B", 1, 1, "S"))
    scores = b.map(lambda e, a, m: e.select(m, a, e.const(float("-inf"))), scores, low)
    chances = b.mark(b.softmax(scores))
    chances = b.collapse(chances, "[[0, 1], [2], [3]]", ("G", "S", "S"))
    heads = join_heads(b, b.batch_matmul(chances, v), HEADS)
    y = b.layer_norm(b.add(flat, b.linear(heads, *weights[3])), *norms[0], HIDDEN)
    inner = b.gelu(b.linear(y, b.mark(up), up_bias))
    z = b.add(y, b.linear(inner, b.mark(down), down_bias))
    z = b.layer_norm(z, *norms[1], HIDDEN)
    return b.text(b.expand(z, "[[0, 1], [2]]", ("B", "S", HIDDEN)))


def lengths_of(d, count, longest):
    """Ragged lengths, the longest one among them."""
    lengths = d.random.integers(1, longest + 1, count)
    lengths[: min(1, count)] = longest
    return lengths


@program(bert_text, dict(B=2, S=12, T=24, G=6), dict(B=3, S=33, T=99, G=9),
         dict(B=1, S=1, T=1, G=3), tolerance=2e-5)
def bert_block(d):
    x = d.f32(d.B, d.S, HIDDEN)
    lengths = lengths_of(d, d.B, d.S)
    mask = d.given("i1", np.arange(d.S) < lengths[:, None]) != 0
    weights = [(d.f32(HIDDEN, HIDDEN, scale=1 / 32), d.f32(HIDDEN)) for _ in range(4)]
    norms = [(d.f32(HIDDEN), d.f32(HIDDEN)) for _ in range(2)]
    up, up_bias = d.f32(INNER, HIDDEN, zeros=0.7, scale=1 / 32), d.f32(INNER)
    down, down_bias = d.f32(HIDDEN, INNER, zeros=0.7, scale=1 / 32), d.f32(HIDDEN)
    q, k, v = ((x @ w.T + c).reshape(d.B, d.S, HEADS, SIZE) for w, c in weights[:3])
    attended = attention(q, k, v, mask[:, None, None, :])
    y = layer_norm(x + attended @ weights[3][0].T + weights[3][1], *norms[0])
    return layer_norm(y + gelu(y @ up.T + up_bias) @ down.T + down_bias, *norms[1])


# -- LLaMA -----------------------------------------------------------------

QUERIES, KEYS = 4, 2  # heads
LLAMA = QUERIES * SIZE


def rotary_tables(b, positions):
    """cos and sin of position times frequency, (S x 1 x SIZE), from the positions."""
    angles = b.arg("frequencies", SIZE // 2)
    place = b.map(lambda e, a: e.cast("sitofp", a, "i64", "f32"), positions, type_="f32")
    place = b.expand(place, "[[0, 1]]", ("S", 1))
    angles = b.mul(place, b.expand(angles, "[[0, 1]]", (1, SIZE // 2)))
    angles = b.concat(1, [angles, angles], ("S", SIZE))
    tables = [b.map(lambda e, a: e.math(name, a), angles) for name in ("cos", "sin")]
    return [b.expand(t, "[[0], [1, 2]]", ("S", 1, SIZE)) for t in tables]


def rotate(b, x, heads, cos, sin):
    """(B S heads SIZE)."""
    half = SIZE // 2
    left = b.slice(x, (0, 0, 0, 0), ("B", "S", heads, half))
    right = b.slice(x, (0, 0, 0, half), ("B", "S", heads, half))
    right = b.map(lambda e, a: e.negf(a), right)
    turned = b.concat(3, [right, left], ("B", "S", heads, SIZE))
    return b.add(b.mul(x, cos), b.mul(turned, sin))


def llama_text(_):
    b = Builder()
    x, positions = b.arg("x", "B", "S", LLAMA), b.arg("positions", "S", type="i64")
    norms = [b.arg(f"g{i}", LLAMA) for i in range(2)]
    wq, wk = b.arg("wq", LLAMA, LLAMA), b.arg("wk", KEYS * SIZE, LLAMA)
    wv, wo = b.arg("wv", KEYS * SIZE, LLAMA), b.arg("wo", LLAMA, LLAMA)
    gate, up, down = b.arg("gate", 48, LLAMA), b.arg("up", 48, LLAMA), b.arg("down", LLAMA, 48)
    cos, sin = rotary_tables(b, positions)
    flat = b.collapse(x, "[[0, 1], [2]]", ("T", LLAMA))
    y = b.rms_norm(flat, norms[0], LLAMA)
    heads = lambda w, count: b.expand(b.linear(y, w), "[[0, 1], [2, 3]]", ("B", "S", count, SIZE))
    q = rotate(b, heads(wq, QUERIES), QUERIES, cos, sin)
    k, v = rotate(b, heads(wk, KEYS), KEYS, cos, sin), heads(wv, KEYS)

    def repeated(value):
        """Each key's head for a group of queries, and heads before positions."""
        value = b.expand(value, "[[0], [1], [2, 3], [4]]", ("B", "S", KEYS, 1, SIZE))
        out = b.empty(("B", "S", KEYS, QUERIES // KEYS, SIZE))
        value = b.generic("ijk0m -> ijklm", [value], out, lambda e, a: a)
        value = b.collapse(value, "[[0], [1], [2, 3], [4]]", ("B", "S", QUERIES, SIZE))
        value = b.transpose(value, (0, 2, 1, 3))
        return b.collapse(value, "[[0, 1], [2], [3]]", ("G", "S", SIZE))

    q = b.collapse(b.transpose(q, (0, 2, 1, 3)), "[[0, 1], [2], [3]]", ("G", "S", SIZE))
    k, v = repeated(k), repeated(v)
    scores = b.scale(b.batch_matmul(q, b.transpose(k, (0, 2, 1))), 1 / math.sqrt(SIZE))

    def causal(e, a):
        below = e.cmp("sle", e.index(2), e.index(1), "i", "index")
        return e.select(below, a, e.const(float("-inf")))

    chances = b.mark(b.softmax(b.map(causal, scores)))
    attended = b.linear(join_heads(b, b.batch_matmul(chances, v), QUERIES), wo)
    h = b.add(flat, attended)
    y = b.rms_norm(h, norms[1], LLAMA)
    inner = b.mul(b.silu(b.linear(y, b.mark(gate))), b.linear(y, b.mark(up)))
    z = b.add(h, b.linear(inner, b.mark(down)))
    return b.text(b.expand(z, "[[0, 1], [2]]", ("B", "S", LLAMA)))


def rotated(x, positions, frequencies):
    """Pairs (i, i + half) as complex numbers, turned by their angle."""
    half = x.shape[-1] // 2
    pairs = x[..., :half] + 1j * x[..., half:]
    pairs = pairs * np.exp(1j * positions[:, None] * frequencies)[:, None, :]
    return np.concatenate([pairs.real, pairs.imag], -1)


@program(llama_text, dict(B=2, S=12, T=24, G=8), dict(B=3, S=33, T=99, G=12),
         dict(B=1, S=1, T=1, G=4), tolerance=3e-5)
def llama_block(d):
    x = d.f32(d.B, d.S, LLAMA)
    positions = d.given("i64", np.arange(d.S) + 5)
    norms = [d.f32(LLAMA), d.f32(LLAMA)]
    wq, wk = d.f32(LLAMA, LLAMA, scale=1 / 32), d.f32(KEYS * SIZE, LLAMA, scale=1 / 32)
    wv, wo = d.f32(KEYS * SIZE, LLAMA, scale=1 / 32), d.f32(LLAMA, LLAMA, scale=1 / 32)
    gate, up = (d.f32(48, LLAMA, zeros=0.6, scale=1 / 32) for _ in range(2))
    down = d.f32(LLAMA, 48, zeros=0.6, scale=1 / 32)
    frequencies = d.given("f32", 0.5 ** np.arange(SIZE // 2))
    y = rms_norm(x, norms[0])
    heads = lambda w: (y @ w.T).reshape(d.B, d.S, -1, SIZE)
    q, k = (rotated(heads(w), positions, frequencies) for w in (wq, wk))
    k, v = (np.repeat(value, QUERIES // KEYS, axis=2) for value in (k, heads(wv)))
    h = x + attention(q, k, v, np.tri(d.S, dtype=bool)) @ wo.T
    y = rms_norm(h, norms[1])
    return h + (silu(y @ gate.T) * (y @ up.T)) @ down.T


# -- GPT, one step ---------------------------------------------------------

WORDS, ROOM = 50, 20  # of the vocabulary; of the cache


def gpt_text(_):
    b = Builder()
    ids = b.arg("ids", "B", type="i64")
    place = b.index_arg("place")
    table, positions = b.arg("table", WORDS, HIDDEN), b.arg("positions", ROOM, HIDDEN)
    caches = [b.arg(f"cache{i}", "B", ROOM, HIDDEN) for i in range(2)]
    wqkv, bqkv = b.arg("wqkv", HIDDEN, 3 * HIDDEN), b.arg("bqkv", 3 * HIDDEN)
    wo, bo = b.arg("wo", HIDDEN, HIDDEN), b.arg("bo", HIDDEN)
    norm = b.arg("g", HIDDEN), b.arg("h", HIDDEN)
    x = b.embedding(ids, table)
    here = b.slice(positions, (place, 0), (1, HIDDEN), dims=(HIDDEN,))
    x = b.add(x, here)
    y = b.layer_norm(x, *norm, HIDDEN)
    qkv = b.add(b.matmul(y, b.mark(wqkv)), bqkv)
    q, k, v = (b.slice(qkv, (0, i * HIDDEN), ("B", HIDDEN)) for i in range(3))
    keys, values = (b.insert(n, c, (0, place, 0), ("B", 1, HIDDEN))
                    for n, c in zip((k, v), caches))
    heads = lambda c: b.transpose(b.expand(c, "[[0], [1], [2, 3]]", ("B", ROOM, HEADS, SIZE)),
                                  (0, 2, 1, 3))
    q = b.expand(q, "[[0], [1, 2]]", ("B", HEADS, SIZE))
    scores = b.generic("bhd bhkd -> bhk", [q, heads(keys)], b.fill(("B", HEADS, ROOM)),
                       lambda e, a, c, o: e.addf(e.mulf(a, c), o), read=True)
    scores = b.scale(scores, 1 / math.sqrt(SIZE))
    scores = b.map(lambda e, a: e.select(e.cmp("ule", e.index(2), place, "i", "index"), a,
                                         e.const(float("-inf"))), scores)
    chances = b.mark(b.softmax(scores))
    mixed = b.generic("bhk bhkd -> bhd", [chances, heads(values)], b.fill(("B", HEADS, SIZE)),
                      lambda e, a, c, o: e.addf(e.mulf(a, c), o), read=True)
    mixed = b.collapse(mixed, "[[0], [1, 2]]", ("B", HIDDEN))
    z = b.add(x, b.add(b.matmul(mixed, wo), bo))
    logits = b.matmul(z, b.transpose(table, (1, 0)))
    best = b.fill(("B",), float("-inf"))
    at = b.fill(("B",), 0, "i64")

    def greater(e, a, value, where):
        more = e.cmp("ogt", a, value)
        return e.select(more, a, value), e.emit(
            f"arith.select {more}, {e.index(1, 'i64')}, {where}", "i64")

    _, chosen = b.generic("ij -> i i", [logits], [best, at], greater, read=True)
    return b.text(logits, keys, values, chosen)


@program(gpt_text, dict(B=2), dict(B=7), dict(B=1), tolerance=2e-5)
def gpt_decode_step(d):
    ids = d.i64(d.B, low=0, high=WORDS - 1)
    place = int(d.scalar("i64", 6))
    table, positions = d.f32(WORDS, HIDDEN), d.f32(ROOM, HIDDEN)
    caches = [d.f32(d.B, ROOM, HIDDEN).copy() for _ in range(2)]
    wqkv, bqkv = d.f32(HIDDEN, 3 * HIDDEN, zeros=0.6, scale=1 / 32), d.f32(3 * HIDDEN)
    wo, bo = d.f32(HIDDEN, HIDDEN, scale=1 / 32), d.f32(HIDDEN)
    norm = d.f32(HIDDEN), d.f32(HIDDEN)
    x = table[ids] + positions[place]
    q, k, v = np.split(layer_norm(x, *norm) @ wqkv + bqkv, 3, axis=1)
    caches[0][:, place], caches[1][:, place] = k, v
    seen = [c[:, : place + 1].reshape(d.B, place + 1, HEADS, SIZE) for c in caches]
    mixed = attention(q.reshape(d.B, 1, HEADS, SIZE), *seen, True)[:, 0]
    logits = (x + mixed @ wo + bo) @ table.T
    return logits, *caches, logits.argmax(1)


# -- experts ---------------------------------------------------------------

EXPERTS = 4


def experts(b, tokens, routing, up, down):
    """routing[t, e] relu(tokens up[e]) down[e], summed over e."""
    inner = b.generic("te tk ekf -> tef", [routing, tokens, up],
                      b.fill(("T", EXPERTS, INNER)),
                      lambda e, r, x, w, o: e.addf(o, e.mulf(r, e.mulf(x, w))), read=True)
    inner = b.relu(inner)
    return b.generic("te tef efn -> tn", [routing, inner, down], b.fill(("T", HIDDEN)),
                     lambda e, r, x, w, o: e.addf(o, e.mulf(r, e.mulf(x, w))), read=True)


def moe_text(_):
    """The best two experts of each token, by the router's own softmax."""
    b = Builder()
    x, router = b.arg("x", "T", HIDDEN), b.arg("router", HIDDEN, EXPERTS)
    up, down = b.arg("up", EXPERTS, HIDDEN, INNER), b.arg("down", EXPERTS, INNER, HIDDEN)
    chances = b.softmax(b.matmul(x, router))
    first = b.max(chances)
    rest = b.map(lambda e, a, m: e.select(e.cmp("oge", a, m), e.const(-1.0), a), chances, first)
    second = b.max(rest)
    kept = b.map(lambda e, a, m: e.select(e.cmp("oge", a, m), a, e.const(0.0)), chances, second)
    routing = b.map(lambda e, a, s: e.divf(a, s), kept, b.sum(kept))
    return b.text(b.add(x, experts(b, x, b.mark(routing), up, down)), routing)


@program(moe_text, dict(T=12), dict(T=65), dict(T=1), dict(T=0), tolerance=2e-5)
def moe_layer(d):
    x, router = d.f32(d.T, HIDDEN), d.f32(HIDDEN, EXPERTS, scale=1 / 16)
    # No two experts of a token are alike.
    router += 0
    up = d.f32(EXPERTS, HIDDEN, INNER, scale=1 / 32)
    down = d.f32(EXPERTS, INNER, HIDDEN, scale=1 / 32)
    chances = softmax(x @ router)
    order = np.argsort(-chances, axis=1)[:, :2]
    routing = np.zeros_like(chances)
    for token, chosen in enumerate(order):
        routing[token, chosen] = chances[token, chosen] / chances[token, chosen].sum()
    y = x.copy()
    for token, expert in np.argwhere(routing > 0):
        r = routing[token, expert]
        y[token] += r * np.maximum(r * (x[token] @ up[expert]), 0) @ down[expert]
    return y, routing


def assigned_text(_):
    """Tokens to experts as the caller says."""
    b = Builder()
    x = b.arg("x", "T", HIDDEN)
    routing, assigned = b.arg("routing", "T", EXPERTS), b.arg("assigned", "T", 2, type="i32")
    up, down = b.arg("up", EXPERTS, HIDDEN, INNER), b.arg("down", EXPERTS, INNER, HIDDEN)
    return b.text(experts(b, x, b.routing(routing, assigned), up, down))


@program(assigned_text, dict(T=12), dict(T=65), dict(T=0), tolerance=2e-5)
def moe_assigned(d):
    x, routing = d.f32(d.T, HIDDEN), d.f32(d.T, EXPERTS, low=1, high=8)
    chosen = np.argsort(d.random.random((d.T, EXPERTS)), axis=1)[:, :2]
    chosen[:, 1] = np.where(d.random.random(d.T) < 0.3, -1, chosen[:, 1])  # one expert only
    assigned = d.given("i32", chosen)
    up = d.f32(EXPERTS, HIDDEN, INNER, scale=1 / 32)
    down = d.f32(EXPERTS, INNER, HIDDEN, scale=1 / 32)
    y = np.zeros((d.T, HIDDEN))
    for token, pair in enumerate(assigned.astype(int)):
        for expert in pair[pair >= 0]:
            r = routing[token, expert]
            y[token] += r * np.maximum(r * (x[token] @ up[expert]), 0) @ down[expert]
    return y


# -- blocks of padded batches ----------------------------------------------


def padded_linear(b, x, w, type_):
    """x w.T of (B, S, ..) rows."""
    init = b.fill(("B", "S", w.dims[0]), type_=type_)
    cast = (lambda e, a: a) if x.type == type_ else (
        lambda e, a: e.cast("extf", a, x.type, type_))
    return b.generic("bsk nk -> bsn", [x, w], init, lambda e, a, c, o: e.addf(
        o, e.mulf(cast(e, a), cast(e, c))), read=True)


def padded_text(_):
    """Two products meet, packed and not, and a residual is marked, too."""
    b = Builder()
    x, lengths = b.arg("x", "B", "S", HIDDEN), b.arg("lengths", "B", type="i32")
    gate, up = b.arg("gate", INNER, HIDDEN), b.arg("up", INNER, HIDDEN)
    down, bias = b.arg("down", HIDDEN, INNER), b.arg("bias", HIDDEN)
    left, right = b.arg("left", INNER, HIDDEN), b.arg("right", INNER, HIDDEN)
    rows = b.lengths(x, lengths)
    inner = b.mul(b.silu(padded_linear(b, rows, gate, "f32")), padded_linear(b, rows, up, "f32"))
    y = padded_linear(b, b.lengths(inner, lengths), down, "f32")
    y = b.add(b.add(y, bias), rows)
    both = b.mul(padded_linear(b, rows, left, "f32"), padded_linear(b, rows, right, "f32"))
    return b.text(b.lengths(y, lengths), b.lengths(both, lengths))


@program(padded_text, dict(B=3, S=17), dict(B=2, S=90), dict(B=0, S=5), dict(B=4, S=0),
         tolerance=2e-5)
def padded_swiglu(d):
    x = d.f32(d.B, d.S, HIDDEN)
    lengths = d.given("i32", d.random.integers(0, d.S + 1, d.B))
    gate, up = (d.f32(INNER, HIDDEN, scale=1 / 32) for _ in range(2))
    down, bias = d.f32(HIDDEN, INNER, scale=1 / 32), d.f32(HIDDEN)
    left, right = (d.f32(INNER, HIDDEN, scale=1 / 32) for _ in range(2))
    there = np.arange(d.S)[:, None] < lengths.reshape(-1, 1, 1)
    y = (silu(x @ gate.T) * (x @ up.T)) @ down.T + bias + x
    return np.where(there, y, 0), np.where(there, (x @ left.T) * (x @ right.T), 0)


def padded_narrow_text(_):
    """Sums in f32; bias, activation, rounding and a residual of f16."""
    b = Builder()
    x, lengths = b.arg("x", "B", "S", HIDDEN, type="f16"), b.arg("lengths", "B", type="i64")
    w, bias = b.arg("w", HIDDEN, HIDDEN, type="f16"), b.arg("bias", HIDDEN, type="f16")
    y = padded_linear(b, b.lengths(x, lengths), w, "f32")
    y = b.map(lambda e, a, c: e.maximumf(e.addf(a, e.cast("extf", c, "f16", "f32")),
                                         e.const(0.0)), y, bias)
    y = b.map(lambda e, a: e.cast("truncf", a, "f32", "f16"), y, type_="f16")
    y = b.map(lambda e, a, c: e.addf(a, c), y, x, type_="f16")
    return b.text(b.lengths(y, lengths))


@program(padded_narrow_text, dict(B=3, S=17), dict(B=1, S=130), tolerance=2e-3)
def padded_narrow(d):
    x = d.f16(d.B, d.S, HIDDEN)
    lengths = d.given("i64", d.random.integers(0, d.S + 1, d.B))
    w, bias = d.f16(HIDDEN, HIDDEN, scale=1 / 32), d.f16(HIDDEN)
    there = np.arange(d.S)[:, None] < lengths.reshape(-1, 1, 1)
    return np.where(there, np.maximum(x @ w.T + bias, 0) + x, 0)


# -- patches ---------------------------------------------------------------


def vit_text(_):
    b = Builder()
    image, kernel = b.arg("image", "B", 3, 16, 16), b.arg("kernel", HIDDEN, 3, 4, 4)
    bias, first = b.arg("bias", HIDDEN), b.arg("first", 1, 1, HIDDEN)
    places = b.arg("places", 1, 17, HIDDEN)
    spread = b.generic("j -> ijkl", [bias], b.empty(("B", HIDDEN, 4, 4)), lambda e, a: a)
    patches = b.named("conv_2d_nchw_fchw", b.mark(image), kernel, None,
                      "{dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>}",
                      init=spread)
    patches = b.collapse(patches, "[[0], [1], [2, 3]]", ("B", HIDDEN, 16))
    patches = b.transpose(patches, (0, 2, 1))
    first = b.generic("0jk -> ijk", [first], b.empty(("B", 1, HIDDEN)), lambda e, a: a)
    tokens = b.concat(1, [first, patches], ("B", 17, HIDDEN))
    return b.text(b.add(tokens, places))


@program(vit_text, dict(B=2), dict(B=5))
def vit_patches(d):
    image = d.f32(d.B, 3, 16, 16, zeros=0.6, micro=(1, 1, 16, 16))
    kernel, bias = d.f32(HIDDEN, 3, 4, 4), d.f32(HIDDEN)
    first, places = d.f32(1, 1, HIDDEN), d.f32(1, 17, HIDDEN)
    patches = image.reshape(d.B, 3, 4, 4, 4, 4).transpose(0, 2, 4, 1, 3, 5).reshape(d.B, 16, -1)
    patches = patches @ kernel.reshape(HIDDEN, -1).T + bias
    return np.concatenate([np.broadcast_to(first, (d.B, 1, HIDDEN)), patches], 1) + places
