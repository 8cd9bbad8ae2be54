"""Layers whose weights are a bitmap and the values that are not zero, compared with numpy in float64. On a GPU
few rows compute tiles of the weight as they read it, more of them write it out first. Arguments as in
pit_run.py."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
import pit  # noqa: E402
from pit.ops._compressed import compressed_op  # noqa: E402
from pit.ops._text import Builder  # noqa: E402

from pit_run import check_layers, draw_floats, value  # noqa: E402

LAYERS = [  # type, rows, n, k, live weights, activation, rows known
    ("f16", 16, 128, 1024, 0.4, None, True),
    ("bf16", 8, 200, 640, 0.4, "relu", True),
    ("bf16", 1, 70, 64, 0.02, None, True),
    ("f16", 32, 1, 1, 1, "silu", True),
    ("bf16", 17, 129, 300, 0.5, None, True),
    ("f16", 3, 64, 100, 1, "relu", True),
    ("bf16", 5, 64, 512, 0, None, True),
    ("f16", 40, 130, 192, 0.3, None, False),
    ("f16", 0, 16, 64, 0.3, None, False),
    ("f32", 9, 40, 130, 0.3, None, True),
]


def draw(type_):
    """Some layer of that type."""
    random = np.random.default_rng()
    m, n, k = int(random.integers(1, 33)), int(random.integers(1, 300)), int(random.integers(1, 700))
    return type_, m, n, k, float(random.choice([0, 0.02, 0.5, 1])), None, True


def check(pit_run, random, type_, m, n, k, live, activation, known):
    x, w, bias = (draw_floats(random, shape, type_) for shape in ((m, k), (n, k), (n,)))
    kept = random.random((n, k)) < live
    weight = pit.compress(w, mask=kept)
    if not np.array_equal(weight.dense(), np.where(kept, w, 0)):
        return "the dense weight is another"
    arrays = [x, weight.words, weight.values, bias]
    op = compressed_op(n, True, activation, None)
    builder = Builder(op.name, on_gpu=not pit_run.on_cpu)
    tiles, blocks, _ = weight.words.shape
    dims = {"m": m if known else "m", "k": k, "n": n, "tiles": tiles, "blocks": blocks, "values": "values"}
    types = (type_, "i32", type_, type_)
    values = [builder.argument(each.name, [dims.get(d, d) for d in each.dims], of)
              for each, of in zip(op.arguments(), types)]
    text = op.text(builder, values, [None] * len(values))
    results, kernels = pit_run.traced(text, arrays)
    if results is None:
        return kernels
    # The product, what follows it, and two that put zeros behind x.
    most = 2 if k % 64 == 0 else 4
    if known and type_ != "f32" and not pit_run.on_cpu and len(kernels) > most:
        return f"one of {kernels} writes the weight out"
    expected = value(x) @ np.where(kept, value(w), 0).T + value(bias)
    if activation == "silu":
        expected = expected / (1 + np.exp(-expected))
    elif activation:
        expected = np.maximum(expected, 0)
    found = results[0]
    found = value(found.view(np.uint16) if type_ == "bf16" else found)
    error = np.abs(found - expected).max(initial=0) / max(1, np.abs(expected).max(initial=0))
    limit = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}[type_]
    return "" if error <= limit else f"off by {error:.2g}"


if __name__ == "__main__":
    check_layers([*LAYERS, draw("f16"), draw("bf16")], check)
