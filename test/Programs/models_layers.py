"""Layers of models: perceptrons in several dialects' manner, embeddings, graphs, masks and
lengths, quantized products, losses."""

import numpy as np

from builder import Builder
from suite import program


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


# A perceptron as StableHLO's conversion writes it: dot, broadcast, map, reduce.
@program("""
func.func @f(%x: tensor<Bx20xf32>, %w1: tensor<20x32xf32>, %b1: tensor<32xf32>,
             %w2: tensor<32x10xf32>, %b2: tensor<10xf32>) -> tensor<Bx10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %B = tensor.dim %x, %c0 : tensor<Bx20xf32>
  %e1 = tensor.empty(#B) : tensor<Bx32xf32>
  %e2 = tensor.empty(#B) : tensor<Bx10xf32>
  %e3 = tensor.empty(#B) : tensor<Bxf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<Bx32xf32>) -> tensor<Bx32xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<Bx10xf32>) -> tensor<Bx10xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<Bxf32>) -> tensor<Bxf32>
  %z4 = linalg.fill ins(%low : f32) outs(%e3 : tensor<Bxf32>) -> tensor<Bxf32>
  %s = pit.sparse %x : tensor<Bx20xf32>
  %0 = linalg.matmul ins(%s, %w1 : tensor<Bx20xf32>, tensor<20x32xf32>)
         outs(%z1 : tensor<Bx32xf32>) -> tensor<Bx32xf32>
  %1 = linalg.broadcast ins(%b1 : tensor<32xf32>) outs(%e1 : tensor<Bx32xf32>) dimensions = [0]
  %2 = linalg.map { arith.addf } ins(%0, %1 : tensor<Bx32xf32>, tensor<Bx32xf32>)
         outs(%e1 : tensor<Bx32xf32>)
  %3 = linalg.map { arith.maximumf } ins(%2, %z1 : tensor<Bx32xf32>, tensor<Bx32xf32>)
         outs(%e1 : tensor<Bx32xf32>)
  %t = pit.sparse %3 : tensor<Bx32xf32>
  %4 = linalg.matmul ins(%t, %w2 : tensor<Bx32xf32>, tensor<32x10xf32>)
         outs(%z2 : tensor<Bx10xf32>) -> tensor<Bx10xf32>
  %5 = linalg.broadcast ins(%b2 : tensor<10xf32>) outs(%e2 : tensor<Bx10xf32>) dimensions = [0]
  %6 = linalg.map { arith.addf } ins(%4, %5 : tensor<Bx10xf32>, tensor<Bx10xf32>)
         outs(%e2 : tensor<Bx10xf32>)
  %7 = linalg.reduce { arith.maximumf } ins(%6 : tensor<Bx10xf32>) outs(%z4 : tensor<Bxf32>)
         dimensions = [1]
  %8 = linalg.broadcast ins(%7 : tensor<Bxf32>) outs(%e2 : tensor<Bx10xf32>) dimensions = [1]
  %9 = linalg.map { arith.subf } ins(%6, %8 : tensor<Bx10xf32>, tensor<Bx10xf32>)
         outs(%e2 : tensor<Bx10xf32>)
  %10 = linalg.map { math.exp } ins(%9 : tensor<Bx10xf32>) outs(%e2 : tensor<Bx10xf32>)
  %11 = linalg.reduce { arith.addf } ins(%10 : tensor<Bx10xf32>) outs(%z3 : tensor<Bxf32>)
         dimensions = [1]
  %12 = linalg.broadcast ins(%11 : tensor<Bxf32>) outs(%e2 : tensor<Bx10xf32>) dimensions = [1]
  %13 = linalg.map { arith.divf } ins(%10, %12 : tensor<Bx10xf32>, tensor<Bx10xf32>)
         outs(%e2 : tensor<Bx10xf32>)
  return %13 : tensor<Bx10xf32>
}
""", dict(B=8), dict(B=1), dict(B=0), dict(B=67), tolerance=2e-5)
def perceptron_of_maps(d):
    x, w1, b1 = d.f32(d.B, 20, zeros=0.7), d.f32(20, 32), d.f32(32)
    w2, b2 = d.f32(32, 10, scale=1 / 16), d.f32(10)
    return softmax(np.maximum(x @ w1 + b1, 0) @ w2 + b2)


def half_text(_):
    """In f16, sums in f32, as a compiler's mixed precision has it."""
    b = Builder()
    x, w1 = b.arg("x", "B", 24, type="f16"), b.arg("w1", 24, 40, type="f16")
    w2 = b.arg("w2", 40, 8, type="f16")
    y = b.matmul(b.mark(x), w1, type_="f32")
    y = b.map(lambda e, a: e.cast("truncf", a, "f32", "f16"), b.relu(y), type_="f16")
    return b.text(b.matmul(b.mark(y), w2, type_="f32"))


@program(half_text, dict(B=16), dict(B=67), dict(B=0))
def perceptron_f16(d):
    x, w1 = d.f16(d.B, 24, zeros=0.7), d.f16(24, 40)
    y = np.maximum(x @ w1, 0).astype(np.float16).astype(float)
    return y @ d.f16(40, 8)


def quantized_text(_):
    """i8 times i8 to i32, scaled, rounded and clamped to i8 again, twice."""
    b = Builder()
    x, w1 = b.arg("x", "B", 24, type="i8"), b.arg("w1", 24, 40, type="i8")
    bias, w2 = b.arg("bias", 40, type="i32"), b.arg("w2", 40, 8, type="i8")
    y = b.matmul(b.mark(x), w1, type_="i32")
    y = b.map(lambda e, a, c: e.addi(a, c), y, bias)

    def requantize(e, a):
        value = e.cast("sitofp", a, "i32", "f32")
        value = e.emit(f"arith.mulf {value}, {e.const(0.03125, 'f32')}", "f32")
        value = e.emit(f"math.roundeven {value}", "f32")
        value = e.emit(f"arith.maximumf {value}, {e.const(0.0, 'f32')}", "f32")
        value = e.emit(f"arith.minimumf {value}, {e.const(127.0, 'f32')}", "f32")
        return e.cast("fptosi", value, "f32", "i8")

    y = b.map(requantize, y, type_="i8")
    return b.text(b.matmul(b.mark(y), w2, type_="i32"))


@program(quantized_text, dict(B=16), dict(B=67), dict(B=0))
def perceptron_i8(d):
    x, w1 = d.i8(d.B, 24, zeros=0.7), d.i8(24, 40)
    y = x @ w1 + d.i32(40, low=-100, high=100)
    y = np.clip(np.rint(y / 32), 0, 127)
    return y @ d.i8(40, 8)


def bag_text(_):
    """The mean of the rows of a table that ragged lists name."""
    b = Builder()
    ids, lengths = b.arg("ids", "B", "S", type="i64"), b.arg("lengths", "B", type="i32")
    table, w = b.arg("table", 50, 16), b.arg("w", 16, 8)
    rows = b.lengths(b.embedding(ids, table), lengths)
    total = b.generic("bsk -> bk", [rows], b.fill(("B", 16)), lambda e, a, o: e.addf(a, o),
                      read=True)

    def at_least_one(e, n):
        n = e.emit(f"arith.maxsi {n}, {e.const(1, 'i32')}", "i32")
        return e.cast("sitofp", n, "i32", "f32")

    count = b.map(at_least_one, b.expand(lengths, "[[0, 1]]", ("B", 1)), type_="f32")
    mean = b.map(lambda e, a, n: e.divf(a, n), total, count)
    return b.text(b.matmul(mean, w))


@program(bag_text, dict(B=6, S=9), dict(B=33, S=20), dict(B=1, S=1), dict(B=4, S=0),
         tolerance=1e-6)
def embedding_bag(d):
    ids, lengths = d.i64(d.B, d.S, low=0, high=49), d.i32(d.B, low=0, high=d.S)
    table, w = d.f32(50, 16), d.f32(16, 8)
    mean = [table[row[:n]].sum(0) / max(n, 1) for row, n in zip(ids, lengths)]
    return np.array(mean).reshape(d.B, 16) @ w


def graph_text(_):
    """relu(A relu(A X W1) W2), with a graph's matrix A."""
    b = Builder()
    a, x = b.arg("a", "N", "N"), b.arg("x", "N", 12)
    w1, w2 = b.arg("w1", 12, 16), b.arg("w2", 16, 4)
    s = b.mark(a)
    y = b.relu(b.matmul(s, b.matmul(x, w1)))
    return b.text(b.relu(b.matmul(s, b.matmul(b.mark(y), w2))))


@program(graph_text, dict(N=20), dict(N=65), dict(N=1), dict(N=0))
def graph_convolution(d):
    a, x = d.f32(d.N, d.N, zeros=0.9, scale=1), d.f32(d.N, 12, low=-2, high=2, scale=1)
    w1, w2 = (d.f32(*shape, low=-1, high=1, scale=1) for shape in ((12, 16), (16, 4)))
    return np.maximum(a @ (np.maximum(a @ (x @ w1), 0) @ w2), 0)


def blocks_text(_):
    """Attention of what a mask of positions allows: scores are wanted there only."""
    b = Builder()
    q, k, v = (b.arg(name, "G", "S", 8) for name in "qkv")
    mask = b.arg("mask", "G", "S", "S", type="i1")
    scores = b.batch_matmul(q, b.transpose(k, (0, 2, 1)))
    scores = b.mark(scores, f" mask({mask.name} : {mask.mlir}) background(0xFF800000 : f32)")
    powers = b.softmax(scores)
    return b.text(b.batch_matmul(b.mark(powers), v))


@program(blocks_text, dict(G=3, S=16), dict(G=2, S=65), dict(G=4, S=1), tolerance=1e-5)
def masked_attention(d):
    q, k, v = (d.f32(d.G, d.S, 8, low=-4, high=4) for _ in range(3))
    near = np.abs(np.arange(d.S)[:, None] - np.arange(d.S)) < 5
    mask = near & (d.random.random((d.G, d.S, d.S)) < 0.7) | np.eye(d.S, dtype=bool)
    mask = d.given("i1", mask) != 0
    return softmax(np.where(mask, np.einsum("gqk,gpk->gqp", q, k), -np.inf)) @ v


def ragged_text(_):
    """Sequences in a batch, each with its length: products of what is there."""
    b = Builder()
    x, lengths = b.arg("x", "B", "S", 12), b.arg("lengths", "B", type="i32")
    w, bias = b.arg("w", 12, 16), b.arg("bias", 16)
    s = b.lengths(x, lengths)
    y = b.generic("bsk kn -> bsn", [s, w], b.fill(("B", "S", 16)),
                  lambda e, a, c, o: e.addf(o, e.mulf(a, c)), read=True)
    y = b.relu(b.add(y, bias))
    y = b.lengths(y, lengths)
    return b.text(b.generic("bsn -> bn", [y], b.fill(("B", 16)), lambda e, a, o: e.addf(a, o),
                            read=True))


@program(ragged_text, dict(B=4, S=10), dict(B=9, S=33), dict(B=2, S=0), dict(B=0, S=3))
def ragged_batch(d):
    x, lengths = d.f32(d.B, d.S, 12), d.i32(d.B, low=0, high=d.S)
    w, bias = d.f32(12, 16), d.f32(16)
    y = np.maximum(x @ w + bias, 0)
    return np.array([y[i, :n].sum(0) for i, n in enumerate(lengths)]).reshape(d.B, 16)


def loss_text(_):
    """The mean of -log softmax at each row's label."""
    b = Builder()
    x, w = b.arg("x", "B", 20), b.arg("w", 20, 12)
    labels = b.arg("labels", "B", type="i64")
    logits = b.matmul(b.mark(x), w)
    off = b.sub(logits, b.max(logits))
    total = b.map(lambda e, a: e.math("log", a), b.sum(b.map(lambda e, a: e.math("exp", a), off)))
    chances = b.sub(off, total)
    picked = b.generic("i -> i", [labels], b.empty(("B",)), lambda e, label: e.negf(e.extract(
        chances, e.index(0), e.cast("index_cast", label, "i64", "index"))))
    best = b.fill(("B",), float("-inf"))

    def greater(e, a, value, where):
        more = e.cmp("ogt", a, value)
        return e.select(more, a, value), e.emit(
            f"arith.select {more}, {e.index(1, 'i64')}, {where}", "i64")

    _, chosen = b.generic("ij -> i i", [logits], [best, b.fill(("B",), 0, "i64")], greater,
                          read=True)
    right = b.map(lambda e, a, c: e.emit(
        f"arith.extui {e.cmp('eq', a, c, 'i', 'i64')}", "i1 to i32"), chosen, labels, type_="i32")
    count = b.generic("i -> .", [right], b.fill((), 0, "i32"), lambda e, a, o: e.addi(a, o),
                      read=True)
    return b.text(picked, count)


@program(loss_text, dict(B=8), dict(B=67), dict(B=1), tolerance=2e-5)
def cross_entropy_and_accuracy(d):
    x, w = d.f32(d.B, 20, zeros=0.7), d.f32(20, 12)
    labels = d.i64(d.B, low=0, high=11)
    logits = x @ w
    chances = np.log(softmax(logits))
    return -chances[np.arange(d.B), labels], (logits.argmax(1) == labels).sum()


def autoencoder_text(_):
    """Tied weights: one marked tensor, plain and transposed."""
    b = Builder()
    x, w = b.arg("x", "B", 24), b.arg("w", 24, 12)
    s = b.mark(w)
    code = b.relu(b.matmul(x, s))
    return b.text(b.matmul(b.mark(code), b.transpose(s, (1, 0))), code)


@program(autoencoder_text, dict(B=8), dict(B=67), dict(B=0))
def autoencoder(d):
    x, w = d.f32(d.B, 24), d.f32(24, 12, zeros=0.7)
    code = np.maximum(x @ w, 0)
    return code @ w.T, code


def rotary_text(_):
    """sin and cos of the same angles, into tensors that start from one."""
    b = Builder()
    x, angles = b.arg("x", "S", 8), b.arg("angles", "S", 8)
    out = b.empty(("S", 8))
    cos = b.generic("ij -> ij", [angles], out, lambda e, a: e.math("cos", a))
    sin = b.generic("ij -> ij", [angles], out, lambda e, a: e.math("sin", a))
    return b.text(b.add(b.mul(b.mark(x), cos), b.mul(x, sin)), cos, sin)


@program(rotary_text, dict(S=8), dict(S=65), tolerance=1e-6)
def sine_and_cosine(d):
    x, angles = d.f32(d.S, 8, zeros=0.5), d.f32(d.S, 8)
    return x * np.cos(angles) + x * np.sin(angles), np.cos(angles), np.sin(angles)


def fused_text(_):
    """Q, K and V of one fill: by three ops, and by one with three results."""
    b = Builder()
    x, (q, k, v) = b.arg("x", "S", 40), (b.arg(name, 40, 48) for name in "qkv")
    s, zero = b.mark(x), b.fill(("S", 48))
    three = [b.matmul(s, w, init=zero) for w in (q, k, v)]
    fused = b.generic("ik kj kj kj -> ij ij ij", [s, q, k, v], [zero] * 3,
                      lambda e, a, u, v, w, o, p, r: [e.addf(o, e.mulf(a, u)),
                                                      e.addf(p, e.mulf(a, v)),
                                                      e.addf(r, e.mulf(a, w))], read=True)
    return b.text(*three, *fused)


@program(fused_text, dict(S=8), dict(S=65), dict(S=0))
def three_projections(d):
    x, weights = d.f32(d.S, 40, zeros=0.7), [d.f32(40, 48) for _ in range(3)]
    return [x @ w for w in weights] * 2
