"""Handwritten digits through a network of ReLU layers, on arrays of numpy.

    digits.py [--picture=FILE] [--weights=FILE]

Most hidden values are zero, and which ones depends on the image. `pit.linear` looks at
them when it is called, and skips what is zero. The same network as MLIR programs is
examples/digits/digits.py; both use its training.
"""

import sys
from pathlib import Path

import numpy as np
import pit

import shared

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "digits"))
import train  # noqa: E402


def classify(images, layers):
    """The input of each layer, and the logits."""
    inputs, x = [], images
    for i, (weight, bias) in enumerate(layers):
        inputs.append(x)
        last = i + 1 == len(layers)
        # `weight` is (outputs, inputs), as in torch. Nobody says that x has zeros, or where.
        x = pit.linear(x, weight, bias, activation=None if last else "relu")
    return inputs, x


def main():
    arguments = shared.read_arguments(__doc__, device=False, weights="")
    trained = train.parameters(arguments.weights or None)
    layers = [(w.T, b) for w, b in trained]  # the weights as torch.nn.Linear has them: a view
    _, _, images, labels = train.load_data()

    inputs, logits = classify(images, layers)

    wide = [(w.astype("d"), b.astype("d")) for w, b in trained]
    _, expected = train.forward(wide, images.astype("d"))
    right = shared.check("the logits", logits, expected, 1e-5)
    print(f"accuracy: {np.mean(logits.argmax(axis=1) == labels):.1%} of {len(labels)} images")

    for i, (x, (weight, bias)) in enumerate(zip(inputs, layers)):
        last = i + 1 == len(layers)
        print(f"layer {i}: {weight.shape[1]} to {weight.shape[0]}, "
              f"{np.mean(x == 0):.0%} of its input is zero")

        def by_numpy():
            y = x @ weight.T + bias
            return y if last else np.maximum(y, 0, out=y)

        def by_pit():
            return pit.linear(x, weight, bias, activation=None if last else "relu")

        shared.compare({"numpy": by_numpy, "pit.linear": by_pit}, arguments.repeat)

    if arguments.picture:
        draw(arguments.picture, inputs[2], labels)
    return 0 if right else 1


def draw(path, hidden, labels):
    """The input of layer 2, images of one digit side by side."""
    order = np.argsort(labels, kind="stable")
    drawn, axes = shared.figure(8, 5)
    axes.imshow(hidden[order] != 0, cmap="Greys", aspect="auto", interpolation="nearest")
    starts = np.searchsorted(labels[order], np.arange(10))
    axes.set_yticks(starts, [f"digit {digit}" for digit in range(10)])
    axes.set_xlabel("neuron")
    axes.set_title("Live values in the input of layer 2: an image a row")
    shared.save(drawn, path)


if __name__ == "__main__":
    sys.exit(main())
