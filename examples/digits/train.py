"""Trains the example's network: digits of 8x8 pixels, three hidden ReLU layers.

The loss has a term for the sum of the activations (L1), which is how sparse
networks are made in practice: most neurons are silent for most images, and
which ones depends on the image.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

SIZES = (64, 512, 512, 256, 10)


def load_data():
    """Training and test images (float32, 0 to 1) and labels."""
    # The file, because a scikit-learn that was built for another numpy cannot be imported.
    found = find_spec("sklearn")
    if found is None:
        raise ModuleNotFoundError("the digits are those of scikit-learn: pip install scikit-learn")
    package = Path(found.submodule_search_locations[0])
    table = np.loadtxt(package / "datasets" / "data" / "digits.csv.gz", delimiter=",")
    images, labels = (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(int)
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[: len(order) * 2 // 3], order[len(order) * 2 // 3:]
    return images[train], labels[train], images[test], labels[test]


def forward(parameters, x):
    """All layers' inputs, and the logits."""
    inputs = []
    for i, (w, b) in enumerate(parameters):
        inputs.append(x)
        x = x @ w + b
        if i + 1 < len(parameters):
            x = np.maximum(x, 0)
    return inputs, x


def gradients(parameters, x, labels, penalty):
    inputs, logits = forward(parameters, x)
    logits = logits - logits.max(axis=1, keepdims=True)
    delta = np.exp(logits)
    delta /= delta.sum(axis=1, keepdims=True)
    delta[np.arange(len(labels)), labels] -= 1
    delta /= len(labels)
    result = []
    for i in reversed(range(len(parameters))):
        result.append((inputs[i].T @ delta, delta.sum(axis=0)))
        if i:
            delta = (delta @ parameters[i][0].T + penalty / len(labels)) * (inputs[i] > 0)
    return result[::-1]


def train(epochs=40, batch=64, rate=1e-3, penalty=3e-3, seed=0):
    """Weights and biases of each layer, by Adam; seconds on one core."""
    rng = np.random.default_rng(seed)
    x, labels, _, _ = load_data()
    parameters = [
        (rng.normal(0, np.sqrt(2 / n), (n, m)).astype(np.float32), np.zeros(m, np.float32))
        for n, m in zip(SIZES, SIZES[1:])
    ]
    flat = [p for layer in parameters for p in layer]
    first, second = [np.zeros_like(p) for p in flat], [np.zeros_like(p) for p in flat]
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(order), batch):
            chosen = order[start: start + batch]
            step += 1
            grads = gradients(parameters, x[chosen], labels[chosen], penalty)
            for p, g, m, v in zip(flat, (g for layer in grads for g in layer), first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        if (epoch + 1) % 10 == 0:
            print(f"  epoch {epoch + 1} of {epochs}", flush=True)
    return parameters


def parameters(saved=None):
    """Weights and biases of each layer: those of the file `saved` (.npz), where they are
    kept if it is not there yet."""
    if saved and Path(saved).exists():
        arrays = np.load(saved)
        return [(arrays[f"w{i}"], arrays[f"b{i}"]) for i in range(len(SIZES) - 1)]
    print("training the network")
    found = train()
    if saved:
        named = {}
        for i, (w, b) in enumerate(found):
            named |= {f"w{i}": w, f"b{i}": b}
        np.savez(saved, **named)
    return found
