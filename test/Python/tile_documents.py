# RUN: %python %s
# REQUIRES: pit-compile
"""The programs of docs/TileLanguage.md and docs/TileReference.md."""

import linecache
import re
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from setup import ROOT  # noqa: E402
from pit import tile  # noqa: E402

TEXT = "".join((ROOT / "docs" / page).read_text() for page in ("TileLanguage.md", "TileReference.md"))
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
random = np.random.default_rng()


def dense(*shape):
    return random.standard_normal(shape).astype("f")


def run(text, values, path):
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec"), values)


def softmax(x, mask):
    power = np.where(mask, np.exp(x.astype("d")), 0)
    total = power.sum(axis=1, keepdims=True)
    return power / np.where(total == 0, 1, total)


class Documents(unittest.TestCase):
    def test_programs(self):
        a, b = dense(70, 90), dense(90, 200)
        gappy = a * (random.random((70, 1)) < 0.3).astype("f")
        sparse = a * (random.random((70, 90)) < 0.02).astype("f")
        x, w, gate = dense(50, 90), dense(5, 90, 40), random.random((50, 5)).astype("f")
        to = np.array([random.permutation(5)[:2] for _ in range(50)], "i")
        logits, mask = 5 * dense(37, 60), random.random((37, 60)) < 0.2
        values = dict(a=a, b=b, gappy=gappy, sparse=sparse, x=x, w=w, gate=gate, to=to,
                      logits=logits, mask=mask, half=dense(9).astype("e"),
                      keep=random.random(70) < 0.4)
        q, k, v = (dense(3, n, 64).astype("e") for n in (90, 70, 70))
        values |= dict(q=q, k=k, v=v)
        errors = 0
        for number, (kind, text) in enumerate(BLOCKS):
            if [kind for kind, _ in BLOCKS[number: number + 2]] == ["python", "text"]:
                with self.assertRaises(tile.SourceError) as caught:
                    run(text, values, "scale.py")
                self.assertEqual(caught.exception.message + "\n", BLOCKS[number + 1][1])
                errors += 1
            elif kind == "python":
                run(text, values, f"block{number}.py")
        self.assertEqual(errors, 1)

        def close(name, wanted):
            np.testing.assert_allclose(values[name], wanted, rtol=1e-4, atol=1e-3, err_msg=name)

        close("c", a.astype("d") @ b)
        close("c_rows", gappy.astype("d") @ b)
        close("c_columns", sparse.astype("d") @ b)
        routed = np.zeros((50, 40))
        for t in range(50):
            for e in to[t]:
                routed[t] += gate[t, e] * (x[t].astype("d") @ w[e])
        close("y", routed)
        close("probabilities", softmax(logits, mask))
        close("whole", softmax(logits, True))
        scores = 0.125 * q.astype("d") @ k.astype("d").transpose(0, 2, 1)
        wanted = softmax(scores.reshape(-1, 70), values["keep"]).reshape(scores.shape) @ v
        np.testing.assert_allclose(values["attended"], wanted, rtol=1e-2, atol=1e-2)
        self.assertIn("pit.forall", values["text"])
        self.assertEqual(values["program"].entries, ["matmul"])
        self.assertTrue(values["library"].startswith(b"\x7fELF"))

    def test_names(self):
        """Each name of the language is on the pages."""
        said = set()
        for code in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", TEXT, flags=re.S | re.M)):
            said |= set(re.findall(r"\w+", code))
        self.assertLessEqual(set(tile.__all__) - said, {"Function", "Specialized"})
        self.assertEqual({n for n in re.findall(r"\btile\.(\w+)", TEXT)} - set(tile.__all__), set())


if __name__ == "__main__":
    unittest.main()
