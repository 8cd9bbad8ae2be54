# RUN: rm -rf %t && mkdir %t && cd %t
# RUN: pit-compile %S/Inputs/documents.mlir -o f.so
# RUN: %python %s
# REQUIRES: pit-compile
"""The examples of docs/Python.md and docs/Ops.md."""

import importlib.util
import re
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

TEXT = (ROOT / "docs" / "Python.md").read_text()


def examples(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


EXAMPLES = examples(TEXT)


def cuda():
    if importlib.util.find_spec("torch") is None:
        return False
    import torch
    return torch.cuda.is_available()


class Documents(unittest.TestCase):
    def test_examples(self):
        a, b = (np.arange(6, dtype=np.float32).reshape(2, 3) + i for i in range(2))
        weights = [np.ones((2, 3), np.float32) for _ in range(2)]
        values = {"a": a, "b": b, "weights": weights, "update": 1,
                  "activations": np.eye(40, dtype=np.float32)}
        on_device = 0
        for example in EXAMPLES:
            if "torch.cuda" in example:
                on_device += 1
                if not cuda():
                    continue
            exec(compile(example, "docs/Python.md", "exec"), values)
        np.testing.assert_array_equal(values["c"], a + b)
        np.testing.assert_array_equal(values["d"], a - b)
        np.testing.assert_array_equal(weights[0], 2)
        self.assertEqual((len(EXAMPLES), on_device), (4, 1))

    def test_ops(self):
        random = np.random.default_rng()

        def array(*shape):
            return random.standard_normal(shape).astype("f")

        values = {
            "x": array(9, 20), "w1": array(30, 20), "b1": array(30), "w2": array(7, 30),
            "b2": array(7), "a": array(33, 200), "b": array(200, 100),
            "kept": random.random((33, 200)) < 0.5, "pruned": random.random((200, 100)) < 0.5,
            "q": array(2, 8, 4), "k": array(2, 6, 4), "allowed": random.random((2, 8, 6)) < 0.5,
            "batch": array(2, 8, 200), "lengths": np.int32([3, 8]), "gates": array(16, 4),
            "tokens": array(16, 20), "experts": array(4, 20, 9),
            "images": array(2, 3, 9, 8), "filters": array(4, 3, 3, 3),
            "pixels": random.random((2, 1, 7, 6)) < 0.5,
            "chosen": random.integers(0, 4, (16, 2)).astype("i")}
        kept = random.random((2, 4, 130, 90)) < 0.1
        attention = {
            "pit": pit, "q": array(2, 4, 130, 16), "k": array(2, 2, 90, 16), "v": array(2, 2, 90, 16),
            "live": random.random((4, 3, 2)) < 0.5, "kept": kept,
            "order": (random.permutation(130), random.permutation(90)), "lengths": np.int32([3, 90]),
            "starts": np.int32([0, 50, 130]), "starts_of_keys": np.int32([0, 40, 90]),
            "index": pit.build_index(kept, (0, 0, 64, 1), 3, source="mask")}
        decoding = {
            "pit": pit, "q": array(2, 4, 16), "k_cache": array(9, 16, 2, 16),
            "v_cache": array(9, 16, 2, 16), "page_table": np.int32([[3, 1, 8], [0, 2, 7]]),
            "lows": array(9, 2, 16) - 2, "highs": array(9, 2, 16) + 2,
            "selected": np.int32([[1, 8], [2, -1]]), "lengths": np.int32([20, 1])}
        video = {"pit": pit, "np": np, "q": array(1, 4, 130, 16), "k": array(1, 2, 130, 16),
                 "v": array(1, 2, 130, 16), "frames": 3, "positions": 40, "text": 10,
                 "temporal": np.array([True, False, True, False])}
        found = examples((ROOT / "docs" / "Ops.md").read_text())
        for example in found:
            exec(compile(example, "docs/Ops.md", "exec"),
                 video if "grid_order" in example else attention if "pit.attention" in example
                 else decoding if "pit.paged_attention" in example else values)
        self.assertEqual(decoding["logs"].shape, (2, 4))
        self.assertEqual(attention["logs"].shape, (2, 4, 130))
        expected = np.where(values["kept"], values["a"], 0).astype("d") @ values["b"].astype("d")
        # The index selects, so the last product is that of what was kept.
        np.testing.assert_allclose(values["y"], expected, atol=1e-4)
        self.assertIn("pit.sread", values["listing"])
        self.assertEqual(video["y"].shape, (1, 4, 130, 16))
        self.assertEqual(len(found), 8)

    def test_names(self):
        """Each name of the package that the page has, and the other way round."""
        # pit.sparse is an op of MLIR.
        known = set(pit.__all__) | {"__version__", "sparse", "torch", "jax", "transformers"}
        named = set(re.findall(r"\bpit\.(\w+)", TEXT))
        self.assertEqual(named - known, set())
        # What these functions return is described with them.
        self.assertEqual(known - named - {"Constant", "LiveFractions", "Entry", "Program", "Signature",
                                          "default_context", "sparse"}, set())


if __name__ == "__main__":
    unittest.main()
