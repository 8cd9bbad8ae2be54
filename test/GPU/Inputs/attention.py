"""pit.attention with options drawn at random, on the emulator, compared with numpy in float64.

    attention.py [--one-of=N] PIT_RUN LIBCUDA CHIP [OPTIONS of pit-to-cuda]

The last line says how many layers were right.
"""

import sys
from pathlib import Path

import numpy as np

from pit.ops import _attention, _op
from pit_run import check_layers

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "Inputs"))
import attention_reference as reference  # noqa: E402

# The type and whether the tiles are to be those of tensor cores; how many queries and keys.
LAYERS = [("f2", (64,), (130, 100)), ("f2", (128,), (64, 257)), ("f2", (64,), (1, 65)),
          ("f2", (16, 32, 64), (33, 70)), ("f4", (8, 64), (33, 40)), ("f2", (64,), (200, 1))]


class Taken(Exception):
    """Ends a call when its program is known."""


def text_of(arrays, options):
    """The program of a call of pit.attention, and what is passed to it."""
    taken = []

    def take(op, given, out):
        infos = [_op._operand.info(op.name, x) for x in given]
        taken.extend([_op.plan_of(op, infos).text, given])
        raise Taken

    run, _attention.run = _attention.run, take
    try:
        _attention.attention(*arrays, return_lse=True, **options)
    except Taken:
        pass
    finally:
        _attention.run = run
    return taken


def check(pit_run, rng, dtype, head_sizes, sizes):
    arrays, options, wanted = reference.draw(rng, dtype, sizes, head_sizes)
    text, given = text_of(arrays, options)
    found = pit_run.results(text, [np.ascontiguousarray(x) for x in given], 2)
    if not found:
        return "no result"
    with np.errstate(invalid="ignore"):
        for made, right in zip(found, reference.attention(*arrays, **wanted)):
            nothing = np.isneginf(right)
            if (np.isneginf(made) != nothing).any():
                return "rows of nothing differ"
            off = abs(made.astype("d") - right)[~nothing].max(initial=0)
            if not off <= (4e-3 if dtype == "f2" else 1e-4) * max(1, abs(right[~nothing]).max(initial=0)):
                return f"off by {off}: {[x.shape for x in arrays]}, {sorted(options)}"
    return None


check_layers(LAYERS, check)
