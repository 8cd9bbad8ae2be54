"""pit.paged_attention with options drawn at random, on the emulator, compared with numpy in float64.

    paged_attention.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import sys
from pathlib import Path

import numpy as np

from pit.ops import _op, _paged_attention
from pit_run import check_layers

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "Inputs"))
import paged_reference as reference  # noqa: E402

# The type, sizes of pages and of heads, parts of the keys, and whether caches have 8 bits and scales.
LAYERS = [("f2", (64,), (64, 128), 1), ("f2", (16,), (128,), 4), ("f2", (32, 128), (64,), 2),
          ("f2", (16, 48), (16, 32), 2), ("f4", (16,), (16,), 2),
          ("f2", (64,), (64, 128), 2, True)]


def check(pit_run, rng, dtype, page_sizes, head_sizes, splits, stored=False):
    arrays, options = reference.draw(rng, dtype, page_sizes, head_sizes, (1, 3, 5))
    q, *others = arrays
    if not q.shape[0]:
        return None
    batch, heads, queries, d = q.shape
    groups = others[0].shape[2]
    fields = {"causal": True, "window": None, "scale": None, "softcap": None, **options}
    op = _paged_attention.paged_op(queries, fields["scale"], fields["softcap"], fields["causal"],
                                   fields["window"], splits, stored,
                                   ("11g", "csg") if stored else (None, None), True)
    scales = []
    if stored:
        others[:2] = [np.rint(x * 30).astype("i1") for x in others[:2]]
        scales = [(rng.random(shape) / 30 + 0.01).astype("f") for shape in (
            (1, 1, groups), others[0].shape[:3])]
    given = [q.reshape(batch, groups, -1, d), *others, *scales]
    compile_options = _op._operand.compile_options
    _op._operand.compile_options = lambda *_: {"chip": pit_run.chip}
    try:
        text = _op.plan_of(op, [_op._operand.info(op.name, x) for x in given]).text
    finally:
        _op._operand.compile_options = compile_options
    found = pit_run.results(text, given, 2)
    if not found:
        return "no result"
    others[:len(scales)] = [x * scale[..., None].astype("d") for x, scale in zip(others, scales)]
    wanted = reference.paged_attention(q, *others, **options)
    for made, right in zip(found, wanted):
        made, nothing = made.reshape(right.shape), np.isneginf(right)
        if (np.isneginf(made) != nothing).any():
            return "rows of nothing differ"
        off = abs(made.astype("d")[~nothing] - right[~nothing]).max(initial=0)
        if not off <= (8e-3 if dtype == "f2" else 1e-4) * max(1, abs(right[~nothing]).max(initial=0)):
            return f"off by {off}: {[x.shape for x in arrays]}, {options}"
    return None


check_layers(LAYERS, check)
