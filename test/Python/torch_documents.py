# RUN: %quick_python %s
# REQUIRES: pit-compile, torch
"""The examples of docs/Torch.md and docs/TorchModels.md, and that of README.md."""

import re
import sys
import unittest
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT, pit  # noqa: E402

PAGES = {page: page.read_text() for page in (ROOT / "docs" / "Torch.md", ROOT / "docs" / "TorchModels.md")}
EXAMPLES = [(example, page) for page, text in PAGES.items()
            for example in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


class Documents(unittest.TestCase):
    def test_examples(self):
        values = {"x": torch.randn(20, 30), "w1": torch.randn(30, 40, requires_grad=True),
                  "w2": torch.randn(10, 40, requires_grad=True),
                  "b2": torch.randn(10, requires_grad=True)}
        x, w1, w2, b2 = values.values()
        for example, page in EXAMPLES:
            exec(compile(example, str(page), "exec"), values)
        expected = torch.relu(x @ w1) @ w2.T + b2
        torch.testing.assert_close(values["step"](x), expected)
        grads = torch.autograd.grad(expected.square().mean(), (w1, w2, b2))
        torch.testing.assert_close((w1.grad, w2.grad, b2.grad), grads)
        self.assertEqual(len(values["table"]), 2)
        self.assertEqual(len(EXAMPLES), 5)
        self.assertEqual(values["labels"].hidden.skips, "weights")

    def test_readme(self):
        values = {}
        text = (ROOT / "README.md").read_text()
        exec(re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1], values)
        torch.testing.assert_close(values["y"], values["h"] @ values["w"].T, rtol=1e-4, atol=1e-3)

    def test_names(self):
        """Each public name of pit.torch that the page has, and the other way round."""
        named = set(re.findall(r"\bpit\.torch\.(\w+)", "".join(PAGES.values())))
        self.assertEqual(named - set(pit.torch.__all__), set())
        self.assertEqual(set(pit.torch.__all__) - named, {"Row", "Table"})


if __name__ == "__main__":
    unittest.main()
