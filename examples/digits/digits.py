#!/usr/bin/env python3
"""Recognizes handwritten digits with a ReLU network whose layers pit compiles.

The images are the 1797 scans that ship with scikit-learn; a third of them is
kept for the test. Each layer is one MLIR function in which the layer's input is
marked `pit.sparse`: which activations are zero is known only when an image is
there. The program checks that it predicts what numpy predicts, and prints how
sparse each layer's input is, which share of its micro-tiles had to be computed,
and how long the layer takes with and without the mark.

    digits.py --build BUILD [--repeat N]
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import train

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import pit  # noqa: E402

# x * w + b, then a ReLU (not after the last layer). The matmul starts from the
# bias. {mark} is the layer's input marked sparse, or empty for the dense program.
LAYER = """\
func.func @layer(%x: tensor<?x{n}xf32>, %w: tensor<{n}x{m}xf32>,
                 %b: tensor<{m}xf32>) -> tensor<?x{m}xf32> {{
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x{n}xf32>
  %e = tensor.empty(%rows) : tensor<?x{m}xf32>
  %init = linalg.broadcast ins(%b : tensor<{m}xf32>) outs(%e : tensor<?x{m}xf32>)
            dimensions = [0]
{mark}
  %r = linalg.matmul ins({input}, %w : tensor<?x{n}xf32>, tensor<{n}x{m}xf32>)
         outs(%init : tensor<?x{m}xf32>) -> tensor<?x{m}xf32>
{relu}
}}
"""

RELU = """\
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>],
         iterator_types = ["parallel", "parallel"]}} outs(%r : tensor<?x{m}xf32>) {{
  ^bb0(%v: f32):
    %p = arith.maximumf %v, %zero : f32
    linalg.yield %p : f32
  }} -> tensor<?x{m}xf32>
  return %y : tensor<?x{m}xf32>"""


def layer_program(n, m, last, sparse):
    mark = f"  %s = pit.sparse %x : tensor<?x{n}xf32>\n" if sparse else ""
    relu = f"  return %r : tensor<?x{m}xf32>" if last else RELU.format(m=m)
    return LAYER.format(n=n, m=m, mark=mark, relu=relu, input="%s" if sparse else "%x")


def micro_tile(layer):
    """The micro-tile that the last call of a layer chose; "" if it was dense."""
    choices = layer.choices()
    if not choices or choices[0].axis is None:
        return ""
    return "x".join(str(extent or "*") for extent in choices[0].micro_tile)


def timed(run, repeat):
    """Milliseconds of the median run, after one to warm up."""
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def draw_live_tiles(build, folder, activations, parameters):
    """Has pit-run draw a layer's input and the micro-tiles that cover it."""
    n, m = parameters[2][0].shape
    (folder / "layer3.mlir").write_text(layer_program(n, m, False, True))
    arrays = {"x": activations[2], "w": parameters[2][0], "b": parameters[2][1]}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    plot = folder / "live-tiles.png"
    sys.stdout.flush()
    subprocess.run(
        [build / "bin" / "pit-run", folder / "layer3.mlir", "--entry=layer",
         *[f"--arg={folder / name}.npy" for name in arrays],
         f"--out={folder / 'y.npy'}", "--check", f"--live-plot={plot}"], check=True)
    return plot


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="pit's build folder")
    parser.add_argument("--repeat", type=int, default=50, help="timed runs of a layer")
    arguments = parser.parse_args()

    folder = arguments.build / "digits"
    folder.mkdir(exist_ok=True)
    parameters = train.parameters(folder / "parameters.npz")
    _, _, images, labels = train.load_data()
    activations, logits = train.forward(parameters, images)

    os.environ["PIT_RUNTIME_LIBRARY"] = str(arguments.build / "lib" / "libpit_runtime.so")
    compiler, context = pit.Compiler(), pit.default_context()
    print(f"\n{len(images)} test images, {context.threads} threads\n")
    print("layer        sparsity  micro-tile      live  pit dense       pit  speed-up")
    x = images
    for i, (w, b) in enumerate(parameters):
        n, m = w.shape
        last = i + 1 == len(parameters)
        y = np.empty((len(x), m), np.float32)
        times = {}
        for sparse in (False, True):
            text = layer_program(n, m, last, sparse)
            layer = compiler.compile(text).layer
            context.record("on")
            layer(x, w, b, out=y)
            builds = context.recorded()
            context.record("off")
            times[sparse] = timed(lambda: layer(x, w, b, out=y), arguments.repeat)
        live_fraction = f"{100 * builds[0].live_fraction:6.1f} %" if builds else "   dense"
        tile = micro_tile(layer)
        print(f"{n:4d} -> {m:4d}  {100 * np.mean(x == 0):6.1f} %  {tile:>10}  {live_fraction}"
              f"  {times[False]:6.2f} ms  {times[True]:6.2f} ms  {times[False] / times[True]:7.2f} x")
        x = y

    print("\nlayer 3 by pit-run --check --live-plot:")
    plot = draw_live_tiles(arguments.build, folder, activations, parameters)
    predicted, wanted = x.argmax(axis=1), logits.argmax(axis=1)
    different = int(np.sum(predicted != wanted))
    print(f"picture of its input and the micro-tiles that cover it: {plot}")
    print(f"\naccuracy {100 * np.mean(predicted == labels):.1f} % "
          f"(numpy: {100 * np.mean(wanted == labels):.1f} %), "
          f"largest difference of a logit {np.max(np.abs(x - logits)):.2g}")
    if different or not np.allclose(x, logits, rtol=1e-4, atol=1e-4):
        print(f"FAILED: {different} predictions differ from numpy's")
        return 1
    print(f"all {len(images)} predictions are numpy's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
