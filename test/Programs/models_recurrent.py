"""Recurrent networks: steps of scf.for that carry what they remember."""

import numpy as np

from builder import Builder
from suite import program

INPUT, HIDDEN = 10, 16


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step_input(b, x, step):
    return b.slice(x, (step, 0, 0), (1, "B", INPUT), dims=("B", INPUT))


def keep(b, value, outputs, step):
    """A step's value in the tensor of all steps."""
    return b.insert(value, outputs, (step, 0, 0), (1, "B", HIDDEN))


def lstm_text(_):
    b = Builder()
    x = b.arg("x", "S", "B", INPUT)
    wx, wh = b.arg("wx", INPUT, 4 * HIDDEN), b.arg("wh", HIDDEN, 4 * HIDDEN)
    bias = b.arg("bias", 4 * HIDDEN)
    wh = b.mark(wh)
    start = b.fill(("B", HIDDEN))
    outputs = b.empty(("S", "B", HIDDEN))

    def step(t, hidden, cell, outputs):
        gates = b.matmul(step_input(b, x, t), wx)
        gates = b.add(b.add(gates, b.matmul(hidden, wh)), bias)
        i, f, g, o = (b.slice(gates, (0, k * HIDDEN), ("B", HIDDEN)) for k in range(4))
        cell = b.add(b.mul(b.sigmoid(f), cell), b.mul(b.sigmoid(i), b.tanh(g)))
        hidden = b.mul(b.sigmoid(o), b.tanh(cell))
        return hidden, cell, keep(b, hidden, outputs, t)

    hidden, cell, outputs = b.loop("%S", [start, start, outputs], step)
    return b.text(outputs, hidden, cell)


STEPS = [dict(S=5, B=3), dict(S=12, B=9), dict(S=1, B=1), dict(S=0, B=2)]


@program(lstm_text, *STEPS, tolerance=1e-5)
def lstm(d):
    x = d.f32(d.S, d.B, INPUT)
    wx, wh = d.f32(INPUT, 4 * HIDDEN), d.f32(HIDDEN, 4 * HIDDEN, zeros=0.7)
    bias = d.f32(4 * HIDDEN)
    hidden, cell, outputs = np.zeros((d.B, HIDDEN)), np.zeros((d.B, HIDDEN)), []
    for now in x:
        i, f, g, o = np.split(now @ wx + hidden @ wh + bias, 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        outputs.append(hidden)
    return np.array(outputs).reshape(d.S, d.B, HIDDEN), hidden, cell


def gru_text(_):
    b = Builder()
    x, start = b.arg("x", "S", "B", INPUT), b.arg("start", "B", HIDDEN)
    wx, wh = b.arg("wx", INPUT, 3 * HIDDEN), b.arg("wh", HIDDEN, 3 * HIDDEN)
    bias = b.arg("bias", 3 * HIDDEN)
    marked = b.mark(wx)

    def step(t, hidden):
        given = b.add(b.matmul(step_input(b, x, t), marked), bias)
        kept = b.matmul(hidden, wh)
        part = lambda v, k: b.slice(v, (0, k * HIDDEN), ("B", HIDDEN))
        r = b.sigmoid(b.add(part(given, 0), part(kept, 0)))
        z = b.sigmoid(b.add(part(given, 1), part(kept, 1)))
        n = b.tanh(b.add(part(given, 2), b.mul(r, part(kept, 2))))
        return b.map(lambda e, new, old, w: e.addf(
            e.mulf(w, old), e.mulf(e.subf(e.const(1.0), w), new)), n, hidden, z)

    return b.text(b.loop("%S", [start], step))


@program(gru_text, *STEPS, tolerance=1e-5)
def gru(d):
    x, hidden = d.f32(d.S, d.B, INPUT), d.f32(d.B, HIDDEN)
    wx, wh = d.f32(INPUT, 3 * HIDDEN, zeros=0.7), d.f32(HIDDEN, 3 * HIDDEN)
    bias = d.f32(3 * HIDDEN)
    for now in x:
        given, kept = np.split(now @ wx + bias, 3, axis=1), np.split(hidden @ wh, 3, axis=1)
        r, z = sigmoid(given[0] + kept[0]), sigmoid(given[1] + kept[1])
        hidden = z * hidden + (1 - z) * np.tanh(given[2] + r * kept[2])
    return hidden


def rnn_text(_):
    """Sequences of several lengths: where one has ended, what it remembers stays."""
    b = Builder()
    x, lengths = b.arg("x", "S", "B", INPUT), b.arg("lengths", "B", type="i32")
    wx, wh = b.arg("wx", INPUT, HIDDEN), b.arg("wh", HIDDEN, HIDDEN)
    start = b.fill(("B", HIDDEN))
    wh = b.mark(wh)

    def step(t, hidden):
        new = b.matmul(hidden, wh, init=b.matmul(step_input(b, x, t), wx))
        new = b.tanh(new)

        def choose(e, value, old, length):
            now = e.cast("index_cast", t, "index", "i32")
            return e.select(e.cmp("slt", now, length, "i", "i32"), value, old)

        column = b.expand(lengths, "[[0, 1]]", ("B", 1))
        return b.map(choose, new, hidden, column)

    return b.text(b.loop("%S", [start], step))


@program(rnn_text, *STEPS, tolerance=1e-5)
def rnn_of_ragged_sequences(d):
    x, lengths = d.f32(d.S, d.B, INPUT), d.i32(d.B, low=0, high=d.S)
    wx, wh = d.f32(INPUT, HIDDEN), d.f32(HIDDEN, HIDDEN, zeros=0.7)
    result = np.zeros((d.B, HIDDEN))
    for sequence, length in enumerate(lengths):
        for now in x[:length, sequence]:
            result[sequence] = np.tanh(now @ wx + result[sequence] @ wh)
    return result
