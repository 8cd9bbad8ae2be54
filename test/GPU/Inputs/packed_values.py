"""A product of values that an index has packed, and its gradients, on a GPU, compared with numpy
in float64. The programs are those of pit.linear with packed=True.

    packed_values.py sm_80|sm_90a
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / each) for each in ("python", "test/GPU", "test/Differential")]
import pit  # noqa: E402
from cuda import Cuda  # noqa: E402
from pit.ops import _einsum, _op, _products  # noqa: E402
from pit.ops._gradients import einsum_gradient  # noqa: E402

TOLERANCE = {"float32": 1e-5, "float16": 4e-3}


def main():
    chip, memory = sys.argv[1], Cuda()
    random = np.random.default_rng()
    right = count = 0
    for dtype in random.permutation(list(TOLERANCE))[:1]:
        m, k, n = (int(random.integers(1, 60)) for _ in range(3))
        mask = random.random((n, k)) < random.choice([0, 0.1, 0.6])
        x, w, g = (random.standard_normal(shape).astype(dtype)
                   for shape in ((m, k), (n, k), (m, n)))
        kept = np.where(mask, w, 0).astype("d")
        op = _products.linear_op("linear", 2, "weight", "index", None, _einsum.NOTHING, False,
                                 None, None, None, True)
        on_host = pit.build_index(mask, (1, 1), 1, source="mask")
        lists = [np.asarray(each).copy() for each in (on_host.counts, on_host.offsets, on_host.ids)]
        lists[2] = lists[2][: mask.sum()]
        index = pit.import_index((n, k), (1, 1), 1, *map(memory.upload, lists),
                                 context=memory.context)
        cases = ((op, (x, w[mask]), x.astype("d") @ kept.T),
                 (einsum_gradient(op, 0)[0], (g, w[mask]), g.astype("d") @ kept),
                 (einsum_gradient(op, 1)[0], (g, x), (g.astype("d").T @ x.astype("d"))[mask]))
        for each, arrays, expected in cases:
            text = _op.plan(each, (*arrays, on_host)).text
            program = pit.compile(text, target="cuda", chip=chip, device_code="ptx")
            out = memory.upload(np.full(expected.shape, np.nan, dtype))
            program[each.name](*map(memory.upload, arrays), index, out=out)
            memory.synchronize()
            error = np.abs(memory.download(out) - expected).max(initial=0)
            good = error <= TOLERANCE[dtype] * max(1, np.abs(expected).max(initial=0))
            if not good:
                print(f"{each.name} {dtype} {m}x{n}x{k}, {mask.sum()} values: error {error}")
            right, count = right + bool(good), count + 1
    print(f"{right} of {count} programs are right")


if __name__ == "__main__":
    main()
