"""Both gradients of a product behind a ReLU, one program, run on the emulator and compared with numpy
in float64: what is not wanted is 0, or right. The program scans once for both (pit-share-scans).

    joint_gradients.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

from dataclasses import replace

import numpy as np

from pit.ops._joint_gradients import joint_gradients
from pit.ops._products import linear_op
from pit_run import check_layers
from training_layers import text

# Rows, width of x, width of the result; micro-tiles that are zero, and how many of them; how the weight lies.
LAYERS = [((150, 64, 72), (1, 64), 0.7), ((130, 136, 64), (32, 1), 0.8), ((96, 72, 128), (1, 1), 0.5),
          ((70, 64, 64), (1, 64), 0), ((33, 64, 72), (1, 64), 1),
          ((150, 64, 72), (1, 64), 0.7, "kn"), ((130, 136, 64), (32, 1), 0.8, "kn")]


def check(pit_run, rng, sizes, tile, part, stored="nk"):
    m, k, n = sizes
    op = linear_op("linear", 2, "x", "values", None, (False, None, None, None), False, None, None,
                   None, False, True)
    op = replace(op, inputs=("mk", stored))
    joint = joint_gradients(op, (True, True))
    live = rng.random((-(-m // tile[0]), -(-k // tile[1]))) >= part
    live = live.repeat(tile[0], 0).repeat(tile[1], 1)[:m, :k]
    x = (rng.standard_normal((m, k)) * live).astype(np.float16)
    dy, w = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, n), (n, k)))
    given = w.T.copy() if stored == "kn" else w
    found, kernels = pit_run.traced(text(joint, {"m": m, "n": n, "k": k}), [dy, x, given], 2)
    if found is None:
        return f"pit-run failed: {kernels}"
    scans = [kernels.count(f"pit_choose_{what}") for what in ("scan", "begin", "list")]
    if scans != [1, 0, 2]:
        return f"looks, looks in parts, and decisions: {looks}"
    dx, dw = (v.astype(np.float64) for v in found)
    dw = dw.T if stored == "kn" else dw
    x, dy, w = (v.astype(np.float64) for v in (x, dy, w))
    wanted = dy @ w
    unwanted = (x == 0) & (dx == 0)
    errors = [np.abs(np.where(unwanted, 0, dx - wanted)).max() / np.abs(wanted).max(),
              np.abs(dw - dy.T @ x).max() / max(np.abs(dy.T @ x).max(), 1)]
    return "" if max(errors) < 1e-2 else f"off by {', '.join(f'{e:.1e}' for e in errors)}"


if __name__ == "__main__":
    check_layers(LAYERS, check)
