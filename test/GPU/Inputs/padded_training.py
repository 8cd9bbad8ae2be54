"""Forward and gradients of two layers on padded batches, two programs, run on the emulator and
compared with numpy in float64.

    padded_training.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import numpy as np

from pit.ops._padded_training import PaddedBackward, PaddedForward
from pit_run import check_layers
from training_layers import text, value_and_slope

# Batches, positions, width, hidden width, width of the result; activation; biases; layouts.
LAYERS = [((3, 50, 64, 72, 64), "gelu", (True, True), ("fk", "nf")),
          ((4, 37, 72, 264, 128), "silu", (True, False), ("kf", "fn")),
          ((2, 130, 64, 256, 72), "tanh", (False, False), ("fk", "fn"))]


def reference(activation, x, lengths, w1, w2, b1, b2, dy):
    """The result and the gradients of x, (k, f) and (f, n) weights, and biases."""
    there = (np.arange(x.shape[1]) < lengths[:, None])[..., None]
    before = (x @ w1 + b1) * there
    value, slope = value_and_slope(activation, before)
    value, dy = value * there, dy * there
    back = dy @ w2.T * slope * there
    return [(value @ w2 + b2) * there, back @ w1.T, np.einsum("bsk,bsf->kf", x, back),
            np.einsum("bsf,bsn->fn", value, dy), back.sum((0, 1)), dy.sum((0, 1))]


def check(pit_run, rng, sizes, activation, biases, layouts):
    b, s, k, f, n = sizes
    letters = {"b": b, "s": s, "k": k, "f": f, "n": n, "r": b * s}
    lengths = rng.integers(0, s + 1, b).astype(np.int32)
    lengths[rng.integers(b)] = rng.choice([0, s])

    def draw(*shape, by=1.0):
        return (rng.standard_normal(shape) * by).astype(np.float16)

    x, dy, w1, w2 = draw(b, s, k), draw(b, s, n), draw(k, f, by=k ** -0.5), draw(f, n, by=f ** -0.5)
    b1, b2 = (draw(size) if there else None for size, there in zip((f, n), biases))
    turned = [layout != usual for layout, usual in zip(layouts, ("kf", "fn"))]
    stored = [np.ascontiguousarray(w.T) if other else w for w, other in zip((w1, w2), turned)]
    arguments = [x, lengths, *stored, *(v for v in (b1, b2) if v is not None)]
    found = pit_run.results(text(PaddedForward(activation, biases, layouts), letters), arguments, 3)
    if not found:
        return "no result"
    y, *kept = found
    for values in kept:
        values[lengths.sum():] = np.nan  # nobody may read what is no row
    backward = PaddedBackward(activation, biases, layouts, (True,) * (3 + sum(biases)))
    found = pit_run.results(text(backward, letters), [*arguments, dy, *kept], 3 + sum(biases))
    if not found:
        return "no gradients"
    found[1:3] = [w.T if other else w for w, other in zip(found[1:3], turned)]
    wanted = reference(activation, *(v if v is lengths else 0 if v is None else v.astype(np.float64)
                                     for v in (x, lengths, w1, w2, b1, b2, dy)))
    for there, at in zip(reversed(biases), (5, 4)):
        if not there:
            del wanted[at]
    errors = [np.abs(a - b).max() / np.abs(b).max() for a, b in zip([y, *found], wanted)]
    return "" if max(errors) < 1e-2 else f"off by {', '.join(f'{e:.1e}' for e in errors)}"


if __name__ == "__main__":
    check_layers(LAYERS, check)
