"""The programs of pit.block_index on the emulator, compared with numpy: means of blocks, blocks with the
largest scores or in the right places, the attention of the last queries.

    block_programs.py PIT_RUN LIBCUDA CHIP
"""

import sys
from pathlib import Path

import numpy as np
from pit._library import CUDA
from pit.ops import _operand
from pit.ops._block_index import chances_op, choice_op, means_op, picks_op
from pit.ops._block_means import BlockMeans, BlockScores
from pit.ops._op import make, plan_of
from pit.ops._operand import Info

from pit_run import PitRun, check_programs, draw_seed

sys.path.append(str(Path(__file__).parents[2] / "Python/Inputs"))
import block_reference

TYPES = {"float16": "f16", "float32": "f32", "bool": "i1"}


def call(pit_run, op, *arrays):
    infos = [Info(TYPES[x.dtype.name], x.shape, (CUDA, 0)) for x in arrays]
    found = pit_run.results(plan_of(op, infos).text, arrays)
    return found and found[0]


def numbers(*sizes):
    return np.zeros((*sizes, 0), bool)


def softmax(x):
    top = x.max(-1, keepdims=True)
    powers = np.exp(x - np.where(top == -np.inf, 0, top))
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)


def means(pit_run, rng, shape, size):
    x = rng.standard_normal(shape).astype("f2")
    found = call(pit_run, means_op(size), x)
    wanted = np.stack([x[:, :, i:i + size].astype("d").mean(2) for i in range(0, shape[2], size)], 2)
    return abs(found - wanted).max() < 1e-5


def scores(pit_run, rng, heads, groups, queries, keys, d, factor):
    """Of means in parts, nearly as those of f32. A block with an infinite mean has no number."""
    q, k = ((rng.standard_normal((1, count, places, d)) * factor).astype("f2")
            for count, places in ((heads, queries), (groups, keys)))
    q[0, 0, 3, 0] = np.inf
    parts = [call(pit_run, make(BlockMeans, 16, rest), x) for x, rest in ((q, 1), (k, 2))]
    if any(x is None for x in parts):
        return False
    found = call(pit_run, make(BlockScores), *(x.reshape(1, groups, -1, 3 * d) for x in parts))
    found = found.reshape(heads, -1, found.shape[-1])
    q, k = (np.stack([x[0, :, i:i + 16].astype("d").mean(1) for i in range(0, x.shape[2], 16)], 1) for x in (q, k))
    wanted = q @ np.repeat(k, heads // groups, 0).swapaxes(1, 2)
    most, finite = np.sqrt(d) * q[np.isfinite(q)].std() * k.std(), np.isfinite(wanted)
    return not np.isfinite(found[0, 0]).any() and abs(found[finite] - wanted[finite]).max() < 2e-6 * most


def picks(pit_run, rng, type_, heads, groups, queries, keys, d, top_k, causal):
    q, k = (rng.standard_normal((2, count, places, d)).astype(type_) for count, places in ((heads, queries), (groups, keys)))
    by = ("top_k",) if top_k else ()
    op = picks_op((32, 16), 1 << (-(-keys // 16) - 1).bit_length(), by, None if top_k else 0.4, None, None, 0.2, causal,
                  causal, False)
    found = call(pit_run, op, numbers(top_k or 0, 0, 0, queries, keys), q, k)
    wanted = block_reference.block_index(q.astype("d"), k.astype("d"), block_size=(32, 16), scale=0.2, causal=causal,
                                         **({"top_k": top_k} if top_k else {"top_p": 0.4}))
    return found is not None and (found == wanted).all()


def choice(pit_run, rng, columns, top_k, top_p):
    x = rng.standard_normal((1, 2, 6, columns)).astype("f")
    x[0, 0, 0], x[0, 0, 1], x[0, 0, 2] = np.round(x[0, 0, 0]), -np.inf, 1000 + x[0, 0, 2] * 1e-4
    x[0, 0, 3, ::2], x[0, 0, 4] = np.inf if top_p is None else 3.0, x[0, 0, 4] * 1e-30
    by = ("top_k",) if top_p is None else ()
    op = choice_op((1, 1), 1 << (columns - 1).bit_length(), by, top_p, None, None, 1.0, False, False, False)
    found = call(pit_run, op, numbers(top_k, 0, 0, 6, columns), x)
    order = np.argsort(-x, -1, kind="stable")
    if top_p is None:
        wanted = np.zeros(x.shape, bool)
        np.put_along_axis(wanted, order[..., :top_k], True, -1)
        return (found == (wanted & (x > -np.inf))).all()
    shares = np.take_along_axis(softmax(x.astype("d")), order, -1)
    before, found = shares.cumsum(-1) - shares, np.take_along_axis(found, order, -1)
    lower, upper = (before < share for share in (top_p - 1e-5, top_p + 1e-5))
    return (found <= (upper & (shares > 0))).all() and (found >= (lower & (shares > 1e-30))).all()


def places(pit_run, rng, queries, keys, sinks, window):
    op = choice_op((16, 8), 64, ("sinks", "window"), None, None, None, 1.0, True, True, True)
    found = call(pit_run, op, numbers(0, sinks, window, queries, keys))[0, 0]
    first = np.arange(0, queries, 16)[:, None] + keys - queries
    last, begin = np.minimum(first + 15, keys - 1), np.arange(0, keys, 8)
    return (found == ((begin <= last) & ((begin < sinks) | (begin + 7 > first - window)))).all()


def chances(pit_run, rng, rows, keys, group, causal):
    q, k = (rng.standard_normal(shape).astype("f2") for shape in (
        (1, 2 * group, rows, 64), (1, 2, keys, 64)))
    found = call(pit_run, chances_op(1 << (rows - 1).bit_length(), group, 0.125, causal), q, k, numbers(keys))
    scores = q.astype("d") @ np.repeat(k, group, 1).astype("d").swapaxes(2, 3) * 0.125
    if causal:
        scores[..., np.arange(keys) >= keys - np.arange(rows)[:, None]] = -np.inf
    wanted = np.concatenate([softmax(scores), np.zeros((1, 2 * group, rows, rows))], -1)
    return abs(found - wanted).max() < 2e-4


def main():
    pit_run, rng = PitRun(), draw_seed()
    _operand.chip_of = lambda device: pit_run.chip
    cases = [(means, (1, 2, 70, 64), 16), (means, (2, 1, 33, 24), 31), (means, (1, 1, 256, 128), 128),
             (scores, 4, 2, 70, 50, 24, 1), (scores, 2, 2, 300, 500, 64, 30), (picks, "f2", 4, 2, 100, 600, 24, 7, False),
             (picks, "f2", 2, 2, 256, 520, 64, None, True), (picks, "f4", 6, 2, 90, 530, 16, 5, True),
             (choice, 40, 5, None), (choice, 256, 26, None), (choice, 100, 0, 0.5), (choice, 33, 0, 1.5),
             (places, 100, 120, 9, 20), (chances, 5, 300, 2, True), (chances, 64, 140, 1, False)]
    check_programs(pit_run, rng, cases)


main()
