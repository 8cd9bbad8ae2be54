"""pit.paged_attention, and pit.attention whose keys are split, with options drawn at random, on the
emulator, compared with numpy in float64.

    paged_attention.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import sys
from pathlib import Path

import numpy as np

from pit.ops import _few_tiles, _op, _paged_attention
from pit_run import check_layers, difference

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "Inputs"))
import attention_reference  # noqa: E402
import paged_reference as reference  # noqa: E402

# The type, sizes of pages (none: keys without pages) and of heads, parts of the keys, and whether caches have 8
# bits and scales.
LAYERS = [("f2", (64,), (64, 128), 1), ("f2", (16,), (128,), 4), ("f2", (32, 128), (64,), 2),
          ("f2", (16, 48), (16, 32), 2), ("f4", (16,), (16,), 2),
          ("f2", (64,), (64, 128), 2, True), ("f2", None, (64, 128), 2), ("f2", None, (32, 80), 4)]


def text_for(pit_run, op, given):
    compile_options = _op._operand.compile_options
    _op._operand.compile_options = lambda *_: {"chip": pit_run.chip}
    try:
        return _op.plan_of(op, [_op._operand.info(op.name, x) for x in given]).text
    finally:
        _op._operand.compile_options = compile_options


def compare(dtype, found, wanted):
    """Rows are those of all heads that share keys."""
    return difference(dtype, [x.reshape(y.shape) for x, y in zip(found or [], wanted)], wanted)


def check_parts(pit_run, rng, head_sizes, splits):
    """Keys and values lie by heads, or by places."""
    batch, groups, each, queries = (int(rng.choice(x)) for x in ((1, 2), (1, 2), (1, 4), (1, 3, 16)))
    d, e, keys = int(rng.choice(head_sizes)), int(rng.choice(head_sizes)), int(rng.integers(1, 500))
    q = rng.standard_normal((batch, groups * each, queries, d)).astype("f2")
    k, v = (rng.standard_normal((batch, groups, keys, x)).astype("f2") for x in (d, e))
    options = {"causal": bool(rng.integers(2)), "window": [None, 100][rng.integers(2)],
               "softcap": [None, 20.0][rng.integers(2)]}
    op = _few_tiles.op_in_parts(queries, d ** -0.5, options["softcap"], options["causal"],
                                options["window"], splits, True)
    given = [q.reshape(batch, groups, each * queries, d), k, v]
    if rng.integers(2):
        given[1:] = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3) for x in (k, v)]
    found = pit_run.results(text_for(pit_run, op, given),
                            [x if x.flags.c_contiguous else x.transpose(0, 2, 1, 3) for x in given], 2)
    with np.errstate(invalid="ignore"):
        wanted = attention_reference.attention(q, k, v, align="end", **options)
    wrong = compare("f2", found, wanted)
    return wrong and f"{wrong}: {q.shape}, {k.shape}, {v.shape}, {options}"


def check(pit_run, rng, dtype, page_sizes, head_sizes, splits, stored=False):
    if page_sizes is None:
        return check_parts(pit_run, rng, head_sizes, splits)
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
    found = pit_run.results(text_for(pit_run, op, given), given, 2)
    others[:len(scales)] = [x * scale[..., None].astype("d") for x, scale in zip(others, scales)]
    wanted = reference.paged_attention(q, *others, **options)
    wrong = compare(dtype, found, wanted)
    return wrong and f"{wrong}: {[x.shape for x in arrays]}, {options}"


check_layers(LAYERS, check)
