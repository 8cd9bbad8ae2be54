"""Activations of two small networks that are trained here: the digits example, and a
transformer with a ReLU in its feed-forward part that reads the same images row by row."""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "digits"))

TOKENS, WIDTH, HIDDEN, CLASSES = 8, 128, 1024, 10
BATCH, STEPS, RATE, PENALTY = 32, 250, 1e-3, 2e-3


def normal(rng, *shape):
    return rng.normal(0, np.sqrt(1 / shape[0]), shape).astype(np.float32)


class Transformer:
    """One block: attention of one head, then a feed-forward part with a ReLU, both with a
    residual; the mean over tokens is classified. No normalization: it is small."""

    def __init__(self, rng):
        self.p = {"embed": normal(rng, 8, WIDTH), "place": normal(rng, TOKENS, WIDTH),
                  "q": normal(rng, WIDTH, WIDTH), "k": normal(rng, WIDTH, WIDTH),
                  "v": normal(rng, WIDTH, WIDTH), "up": normal(rng, WIDTH, HIDDEN),
                  "bias": np.zeros(HIDDEN, np.float32), "down": normal(rng, HIDDEN, WIDTH),
                  "out": normal(rng, WIDTH, CLASSES)}

    def forward(self, images):
        p, s = self.p, {}
        s["rows"] = images.reshape(-1, TOKENS, 8)
        s["x"] = s["rows"] @ p["embed"] + p["place"]
        s["q"], s["k"], s["v"] = (s["x"] @ p[name] for name in "qkv")
        score = s["q"] @ s["k"].transpose(0, 2, 1) / np.sqrt(WIDTH)
        score = np.exp(score - score.max(axis=-1, keepdims=True))
        s["weight"] = score / score.sum(axis=-1, keepdims=True)
        s["y"] = s["x"] + s["weight"] @ s["v"]
        s["hidden"] = np.maximum(s["y"] @ p["up"] + p["bias"], 0)
        s["mean"] = (s["y"] + s["hidden"] @ p["down"]).mean(axis=1)
        s["logits"] = s["mean"] @ p["out"]
        return s

    def gradients(self, images, labels):
        p, s, g = self.p, self.forward(images), {}
        delta = np.exp(s["logits"] - s["logits"].max(axis=1, keepdims=True))
        delta /= delta.sum(axis=1, keepdims=True)
        delta[np.arange(len(labels)), labels] -= 1
        delta /= len(labels)
        flat = lambda a: a.reshape(-1, a.shape[-1])
        outer = lambda a, b: flat(a).T @ flat(b)
        g["out"] = s["mean"].T @ delta
        dz = np.repeat((delta @ p["out"].T / TOKENS)[:, None], TOKENS, axis=1)
        g["down"] = outer(s["hidden"], dz)
        dh = (dz @ p["down"].T + PENALTY / dz[..., 0].size) * (s["hidden"] > 0)
        g["up"], g["bias"] = outer(s["y"], dh), flat(dh).sum(axis=0)
        dy = dz + dh @ p["up"].T
        dweight = dy @ s["v"].transpose(0, 2, 1)
        dv = s["weight"].transpose(0, 2, 1) @ dy
        dscore = s["weight"] * (dweight - (dweight * s["weight"]).sum(axis=-1, keepdims=True))
        dscore /= np.sqrt(WIDTH)
        dq, dk = dscore @ s["k"], dscore.transpose(0, 2, 1) @ s["q"]
        g |= {"q": outer(s["x"], dq), "k": outer(s["x"], dk), "v": outer(s["x"], dv)}
        dx = dy + dq @ p["q"].T + dk @ p["k"].T + dv @ p["v"].T
        return g | {"embed": outer(s["rows"], dx), "place": dx.sum(axis=0)}

    def train(self, rng, images, labels):
        """By Adam, with a penalty on the sum of activations."""
        first, second = ({n: np.zeros_like(v) for n, v in self.p.items()} for _ in range(2))
        for step in range(1, STEPS + 1):
            chosen = rng.integers(len(images), size=BATCH)
            for name, g in self.gradients(images[chosen], labels[chosen]).items():
                m, v = first[name], second[name]
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                self.p[name] -= RATE * (m / (1 - 0.9**step)) / (
                    np.sqrt(v / (1 - 0.999**step)) + 1e-8)


def load_layers(folder):
    """{name: (A, B)} of the products whose left operand has zeros; trained once."""
    path = folder / "activations.npz"
    if not path.exists():
        np.savez(path, **make_layers())
    with np.load(path) as found:
        return {name[2:]: (found[name], found["b " + name[2:]])
                for name in found.files if name.startswith("a ")}


def make_layers():
    import train

    found = {}
    images, labels, tests, wanted = train.load_data()
    parameters = train.train()
    inputs, _ = train.forward(parameters, tests)
    for i, (x, (weight, _)) in enumerate(zip(inputs, parameters)):
        found |= {f"a digits {i + 1}": x, f"b digits {i + 1}": weight}
    rng = np.random.default_rng(0)
    transformer = Transformer(rng)
    transformer.train(rng, images, labels)
    hidden = transformer.forward(tests)
    right = np.mean(hidden["logits"].argmax(axis=1) == wanted)
    assert right > 0.8, f"the transformer is right for {right:.2f} of the images"
    tokens = hidden["hidden"].reshape(-1, HIDDEN)
    for rows in (8, 256, 1024):
        found |= {f"a transformer, {rows} tokens": tokens[:rows],
                  f"b transformer, {rows} tokens": transformer.p["down"]}
    return found
