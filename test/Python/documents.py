# RUN: rm -rf %t && mkdir %t && cd %t
# RUN: pit-compile %S/Inputs/documents.mlir -o f.so
# RUN: %python %s
# REQUIRES: pit-compile
"""The examples of docs/Python.md."""

import importlib.util
import re
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

TEXT = (ROOT / "docs" / "Python.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


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

    def test_names(self):
        """Each name of the package that the page has, and the other way round."""
        known = set(pit.__all__) | {"__version__"}
        named = set(re.findall(r"\bpit\.(\w+)", TEXT))
        self.assertEqual(named - known, set())
        # What these functions return is described with them.
        self.assertEqual(known - named - {"Constant", "Coverage", "Entry", "Program", "Signature",
                                          "default_context"}, set())


if __name__ == "__main__":
    unittest.main()
