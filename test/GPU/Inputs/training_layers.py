"""Forward and gradients of a layer of experts, two programs, run on the emulator and compared
with numpy in float64.

    training_layers.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import numpy as np

from pit.ops import _op
from pit.ops._moe_training import ExpertsBackward, ExpertsForward
from pit.ops._operand import Info
from pit_run import check_layers

# Tokens, choices, experts, width, hidden width; activation; layouts of the weights.
LAYERS = [((150, 2, 4, 64, 72), "silu", ("ekf", "ekf", "efn")),
          ((37, 3, 5, 72, 264), "gelu", ("efk", "efk", "enf")),
          ((70, 1, 2, 128, 256), "relu", ("ekg", "efn")),
          ((90, 2, 9, 64, 64), "tanh", ("efk", "enf"))]


def text(op, sizes):
    infos = []
    for argument in op.arguments():
        type_ = "i32" if argument.name in ("experts", "lengths") else "f16"
        infos.append(Info(type_, tuple(sizes[d] for d in argument.dims)))
    return _op.plan_of(op, infos).text


def value_and_slope(name, x):
    if name == "silu":
        part = 1 / (1 + np.exp(-x))
        return x * part, part * (1 + x * (1 - part))
    if name == "gelu":
        erf = np.vectorize(__import__("math").erf)
        part = 0.5 * (1 + erf(x / np.sqrt(2)))
        return x * part, part + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    if name == "relu":
        return np.maximum(x, 0), (x > 0).astype(float)
    return np.tanh(x), 1 - np.tanh(x) ** 2


def reference(activation, x, scales, choices, weights, dy):
    """The result, and gradients of x, the scales and (experts, in, out) weights, choice by choice."""
    *wide, down = weights
    y, dx, dscales = np.zeros(dy.shape), np.zeros(x.shape), np.zeros(scales.shape)
    dweights = [np.zeros(w.shape) for w in weights]
    for t, j in zip(*np.nonzero(choices >= 0)):
        e, scale = choices[t, j], scales[t, j]
        sums = [x[t] @ w[e] for w in wide]
        value, slope = value_and_slope(activation, sums[0])
        parts = [slope] if len(sums) == 1 else [slope * sums[1], value]
        value = value if len(sums) == 1 else value * sums[1]
        y[t] += scale * (value @ down[e])
        back = down[e] @ dy[t]
        dscales[t, j] = back @ value
        dweights[-1][e] += scale * np.outer(value, dy[t])
        for i, part in enumerate(parts):
            of_sum = scale * back * part
            dx[t] += wide[i][e] @ of_sum
            dweights[i][e] += np.outer(x[t], of_sum)
    return [y, dx, dscales, *dweights]


def check(pit_run, rng, sizes, activation, layouts):
    tokens, top, experts, width, hidden = sizes
    joined = "halves" if "g" in layouts[0] else ""
    gated = bool(joined) or len(layouts) == 3
    letters = {"t": tokens, "top": top, "e": experts, "k": width, "n": width, "f": hidden,
               "g": 2 * hidden, "r": tokens * top}
    choices = np.stack([rng.permutation(experts)[:top] for _ in range(tokens)]).astype(np.int32)
    choices[rng.random(choices.shape) < 0.2] = -1

    def draw(*shape, by=1.0):
        return (rng.standard_normal(shape) * by).astype(np.float16)

    x, dy, scales = draw(tokens, width), draw(tokens, width), draw(tokens, top)
    shapes = [(experts, width, hidden)] * (1 + gated) + [(experts, hidden, width)]
    weights = [draw(*shape, by=shape[1] ** -0.5) for shape in shapes]
    stored = [np.concatenate(weights[:2], 2), weights[2]] if joined else weights
    swapped = [layout in ("efk", "egk", "enf") for layout in layouts]
    stored = [np.ascontiguousarray(w.transpose(0, 2, 1)) if other else w
              for w, other in zip(stored, swapped)]
    forward = ExpertsForward(activation, gated, layouts, joined)
    backward = ExpertsBackward(activation, gated, layouts, (True,) * (2 + len(layouts)), joined)
    arguments = [x, scales, choices, *stored]
    found = pit_run.results(text(forward, letters), arguments, len(layouts))
    if not found:
        return "no result"
    y, *kept = found
    found = pit_run.results(text(backward, letters), [*arguments, dy, *kept], 2 + len(layouts))
    if not found:
        return "no gradients"
    found[2:] = [w.transpose(0, 2, 1) if other else w for w, other in zip(found[2:], swapped)]
    if joined:
        found[2:3] = np.split(found[2], 2, 2)
    wanted = reference(activation, *(v.astype(np.float64) for v in (x, scales)), choices,
                       [w.astype(np.float64) for w in weights], dy.astype(np.float64))
    errors = [np.abs(a - b).max() / np.abs(b).max() for a, b in zip([y, *found], wanted)]
    return "" if max(errors) < 1e-2 else f"off by {', '.join(f'{e:.1e}' for e in errors)}"


if __name__ == "__main__":
    check_layers(LAYERS, check)
