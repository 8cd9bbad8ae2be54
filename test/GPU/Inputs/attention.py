"""pit.attention and its gradients with options drawn at random, on the emulator, compared with numpy
in float64.

    attention.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import re
import sys
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path

import numpy as np

import pit
from pit.ops import _attention, _op
from pit.ops._attention_gradients import (
    AllGradients, BiasGradient, KeyGradient, QueryGradient, SlopeGradient)
from pit_run import check_layers, difference, float8

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "Inputs"))
import attention_reference as reference  # noqa: E402

# The type and whether the tiles are to be those of tensor cores; how many queries and keys; options that are
# not drawn.
LAYERS = [("f2", (64,), (130, 100)), ("f2", (128,), (64, 257)), ("f2", (64,), (1, 65)),
          ("f2", (16, 32, 64), (33, 70)), ("f4", (8, 64), (33, 40)), ("f2", (64,), (200, 1)),
          ("f2", (64, 128), (230, 140), {"causal": True, "align": "end"}),  # the first rows are nothing
          ("f2", (64,), (300, 420), {"window": 20, "sinks": 3}), ("f2", (64,), (70, 130), "stored"),
          ("f2", (64, 128, 192), (90, 130)), ("f2", (64,), (200, 190), "orders"),
          ("f2", (48, 80, 96), (90, 130), "one by one"), ("f2", (128, 256), (70, 200), "one by one"),
          ("f2", (128,), (256, 256), "orders"), ("f4", (8, 64), (100, 40), "orders"),
          ("f2", (128,), (130, 200), "small"), ("f2", (128,), (64, 190), "small"),
          ("f2", (64, 128, 256), (130, 200), "rounded"), ("f2", (64, 128), (200, 420), "rounded"),
          ("f2", (128, 192), (64, 31), "rounded"), ("f2", (64, 128), (70, 1), "rounded"),
          ("f2", (128,), (200, 150), "unaligned")]


class Taken(Exception):
    """Ends a call when its program is known."""


def op_of(arrays, options):
    """The op of a call of pit.attention, and what is passed to it."""
    taken = []

    def take(op, given, out):
        taken.extend([op, given])
        raise Taken

    run, _attention.run = _attention.run, take
    try:
        _attention.attention(*arrays, return_lse=True, **options)
    except Taken:
        pass
    finally:
        _attention.run = run
    return taken


def results(pit_run, op, given, count, types=()):
    """`types` are those of the first arrays, where they are bytes that hold something else."""
    infos = [_op._operand.info(op.name, pit.view(x, type_) if type_ else x)
             for x, type_ in zip_longest(given, types)]
    return pit_run.results(_op.plan_of(op, infos).text, [np.ascontiguousarray(x) for x in given],
                           count)


def check(pit_run, rng, dtype, head_sizes, sizes, given=None):
    arrays, options, wanted = reference.draw(rng, dtype, sizes, head_sizes)
    if given == "stored":
        return check_stored(pit_run, rng, arrays)
    if given == "small":
        return check_small(pit_run, rng, arrays)
    if given == "unaligned":
        return check_unaligned(pit_run, rng)
    if given == "rounded":
        return check_rounded(pit_run, rng, arrays, options, wanted)
    if given == "orders":
        options, wanted = reference.ordered_blocks(rng, arrays)
    elif given == "one by one":
        (batch, heads, queries, _), keys = arrays[0].shape, arrays[1].shape[2]
        options = wanted = {"mask": rng.random((batch, heads, queries, keys)) < rng.choice([0.02, 0.5])}
    elif given:
        options, wanted = dict(given), dict(given)
    op, given = op_of(arrays, options)
    found = results(pit_run, op, given, 2)
    with np.errstate(invalid="ignore"):
        result, logs = reference.attention(*arrays, **wanted)
    wrong = difference(dtype, found, (result, logs))
    if not wrong:
        dy = rng.standard_normal(result.shape).astype(dtype)
        given = [*given, dy, np.maximum(logs, np.finfo("f").min / 2).astype("f"),
                 (dy * result).sum(-1).astype("f")]
        changed = {"with_lse": False}
        # In one loop, or in two.
        found, kinds = [], [[(AllGradients, 3)], [(QueryGradient, 1), (KeyGradient, 2)]][rng.integers(2)]
        if "bias" in options:
            kinds.append((BiasGradient, 1))
        if "alibi" in options:
            kinds.append((SlopeGradient, 1))
        for kind, count in kinds:
            gradient = _op.make(kind, *(changed.get(f.name, getattr(op, f.name)) for f in fields(op)))
            found += results(pit_run, gradient, given, count) or []
        exact = reference.gradients(*arrays, dy, **wanted)
        if len(found) < len(exact):
            wrong = "no gradients"
        else:
            if "bias" in options:  # without dims of size 1
                found[3] = (found[3] if found[3].size == exact[3].size else found[3].sum()).reshape(
                    exact[3].shape)
            wrong = difference(dtype, found, exact)
            wrong = wrong and f"gradients: {wrong}"
    return wrong and f"{wrong}: {[x.shape for x in arrays]}, {sorted(options)}"


def check_stored(pit_run, rng, arrays):
    """Keys and values of 8 bits that are multiplied by scales, of heads and of keys."""
    q, *others = arrays
    stored = [np.rint(x * 30).astype("i1") for x in others]
    scales = [(rng.random(shape) / 30 + 0.01).astype("f") for shape in (
        (stored[0].shape[1], 1), stored[0].shape[:3])]
    op, given = op_of((q, *stored), {"causal": True, "k_scale": scales[0], "v_scale": scales[1]})
    found = results(pit_run, op, given, 2)
    wide = [x * scale[..., None].astype("d") for x, scale in zip(stored, scales)]
    wrong = difference("f2", found, reference.attention(q, *wide, causal=True))
    return wrong and f"{wrong}: {[x.shape for x in arrays]}, of 8 bits"


def check_unaligned(pit_run, rng):
    """All gradients where TMA cannot take q, whose rows begin at an odd place: steps add what threads have."""
    wide = rng.standard_normal((1, 2, 200, 137)).astype("f2")
    q = np.ascontiguousarray(wide[..., 1:129])
    k, v = (rng.standard_normal((1, 2, 150, 128)).astype("f2") for _ in range(2))
    options = {"causal": True} if rng.random() < 0.5 else {}
    op, given = op_of((q, k, v), options)
    result, logs = reference.attention(q, k, v, **options)
    dy = rng.standard_normal(result.shape).astype("f2")
    given = [*given, dy, logs.astype("f"), (dy * result).sum(-1).astype("f")]
    gradient = _op.make(AllGradients, *(False if f.name == "with_lse" else getattr(op, f.name)
                                        for f in fields(op)))
    text = _op.plan_of(gradient, [_op._operand.info(gradient.name, x) for x in given]).text
    name, sizes = re.search(r"%d_n = tensor\.dim .*\n", text), "tensor<?x2x?x{}xf16>"
    cut = (f"  %q = tensor.extract_slice %wide[0, 0, 0, 1] [%d_b, 2, %d_m, 128] [1, 1, 1, 1] : "
           f"{sizes.format(137)} to {sizes.format(128)}\n")
    text = text[:name.end()] + cut + text[name.end():]
    text = text.replace(f"(%q: {sizes.format(128)}", f"(%wide: {sizes.format(137)}", 1)
    text = re.sub(r"tensor\.dim %q, (.*)x128xf16>", r"tensor.dim %wide, \1x137xf16>", text)
    found, kernels = pit_run.traced(text, [wide, *given[1:]], 3)
    if not found or any(kernel.endswith("_hopper") for kernel in kernels):
        return f"no result, or not of the portable kernel: {kernels}"
    return difference("f2", found, reference.gradients(q, k, v, dy, **options)[:3])


def small_floats(rng, shape):
    return (rng.integers(0x28, 0x3c, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)


def check_rounded(pit_run, rng, arrays, options, wanted):
    """Queries, keys and values of 8 bits, to whose type probabilities are rounded, where keys are not read one by
    one: each is off by half of its last place at most."""
    (batch, heads, queries, _), (_, groups, keys, _) = (x.shape for x in arrays[:2])
    types = [rng.choice(["f8E4M3FN", "f8E5M2"])] * 2 + [rng.choice(["f8E4M3FN", "f8E4M3FN", "f8E5M2"])]
    bits = [small_floats(rng, x.shape) for x in arrays]
    if "mask" not in options and rng.random() < 0.5:  # steps begin anywhere
        window = {"window": int(rng.integers(1, 90)), "sinks": [None, 3, 200][rng.integers(3)]}
        options, wanted = options | window, wanted | window
    if "mask" in options and rng.random() < 0.7:
        size = int(rng.choice([64, 128])), int(rng.choice([32, 64, 128, 192]))
        blocks = rng.random([heads, *(-(-a // b) for a, b in zip((queries, keys), size))]) < 0.6
        del options["mask"]
        options |= {"blocks": blocks, "block_size": size}
        wanted = wanted | {"mask": reference.repeat(blocks, size, queries, keys)}
    scales = [(rng.random(shape) / 2 + 0.1).astype("f") for shape in (
        [(heads, 1), (batch, heads, queries)][rng.integers(2)],
        [(batch, groups, keys), (groups, 1)][rng.integers(2)],
        [(batch, groups, keys), (groups, 1), (groups, 1), (1,)][rng.integers(4)])]
    op, given = op_of([pit.view(x, type_) for x, type_ in zip(bits, types)],
                      options | dict(zip(("q_scale", "k_scale", "v_scale"), scales)))
    found = results(pit_run, op, [*bits, *given[3:]], 2, types)
    wide = [float8(x, type_) * scale[..., None] for x, type_, scale in zip(bits, types, scales)]
    with np.errstate(invalid="ignore"):
        result, logs = reference.attention(*wide, **wanted)
        sizes, _ = reference.attention(*wide[:2], abs(wide[2]), **wanted)
    wrong = difference("f2", found and found[1:], (logs,))
    if not wrong:
        most = sizes * (0.125 if types[2] == "f8E5M2" else 0.0625) * op.rounds + 8e-3 * max(1, abs(result).max(initial=0))
        off = abs(found[0].astype("d") - result)
        if not (off <= most).all() or off.size > 100 and off.mean() > most.mean() / 3:
            wrong = f"off by {off.max()}"
    return wrong and f"{wrong}: {[x.shape for x in arrays]}, {types}, {sorted(options)}"


def check_small(pit_run, rng, arrays):
    """Queries and keys of 8 bits beside values of f16, and scales of scores, in blocks or causal."""
    (batch, heads, queries, _), (_, groups, keys, _) = (x.shape for x in arrays[:2])
    type_ = rng.choice(["f8E4M3FN", "f8E5M2"])
    bits = [small_floats(rng, x.shape) for x in arrays[:2]]
    scales = [(rng.random(shape) / 2 + 0.1).astype("f") for shape in (
        [(heads, 1), (batch, heads, queries)][rng.integers(2)],
        [(batch, groups, keys), (groups, 1)][rng.integers(2)])]
    options, wanted = reference.ordered_blocks(rng, arrays) if rng.random() < 0.5 else (
        {"causal": True}, {"causal": True})
    op, given = op_of((*(pit.view(x, type_) for x in bits), arrays[2]),
                      options | {"q_scale": scales[0], "k_scale": scales[1]})
    found = results(pit_run, op, [*bits, *given[2:]], 2, [type_] * 2)
    wide = [float8(x, type_) * scale[..., None] for x, scale in zip(bits, scales)]
    wrong = difference("f2", found, reference.attention(*wide, arrays[2], **wanted))
    return wrong and f"{wrong}: {[x.shape for x in arrays]}, {type_}, {sorted(options)}"


check_layers(LAYERS, check)
