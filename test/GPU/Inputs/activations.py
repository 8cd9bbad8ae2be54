"""gelu and silu of every number of f16 and bf16, as they are computed where the result is
rounded to these types (fastmath<afn>): on the emulator, compared with numpy in float64.

    activations.py PIT_RUN LIBCUDA CHIP

The last line says how many functions were right.
"""

import sys
from math import erfc
from pathlib import Path

import numpy as np

from pit_run import PitRun

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Differential"))
import dtypes  # noqa: E402

PROGRAM = """
func.func @f(%x: tensor<65536xTYPE>) -> tensor<65536xTYPE> {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.707106781186547573 : f32
  %e = tensor.empty() : tensor<65536xTYPE>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
         ins(%x : tensor<65536xTYPE>) outs(%e : tensor<65536xTYPE>) {
  ^bb0(%a: TYPE, %o: TYPE):
    %v = arith.extf %a : TYPE to f32
    BODY
    %r = arith.truncf %w : f32 to TYPE
    linalg.yield %r : TYPE
  } -> tensor<65536xTYPE>
  return %y : tensor<65536xTYPE>
}
"""
GELU = """%z = arith.mulf %v, %root : f32
    %p = math.erf %z fastmath<afn> : f32
    %s = arith.addf %p, %one : f32
    %h = arith.mulf %v, %half : f32
    %w = arith.mulf %h, %s : f32"""
SILU = """%n = arith.negf %v : f32
    %p = math.exp %n fastmath<afn> : f32
    %s = arith.addf %p, %one : f32
    %w = arith.divf %v, %s fastmath<afn> : f32"""


def gelu(x):
    """Without the difference of 1 and erf, which has no digits left far below 0."""
    return x * np.vectorize(lambda v: erfc(-v / 2**0.5) / 2)(x)


def silu(x):
    return x / (1 + np.exp(np.minimum(-x, 700)))


def main():
    run, right = PitRun(), 0
    cases = [(name, function, body, type_) for type_ in (dtypes.F16, dtypes.BF16)
             for name, function, body in (("gelu", gelu, GELU), ("silu", silu, SILU))]
    for name, function, body, type_ in cases:
        bits = np.arange(65536, dtype=np.uint16)
        x = type_.load(bits.view(type_.storage))
        text = PROGRAM.replace("BODY", body).replace("TYPE", type_.mlir)
        results = run.results(text, [bits.view(type_.storage)])
        if not results:
            continue
        got = type_.load(results[0].view(type_.storage))
        # Infinities and what is too large for the type aside; of NaN comes NaN.
        finite = np.isfinite(x)
        want = function(x[finite])
        # Half a unit of the type, 2e-4 of the function, and what is next to nothing.
        unit = 2.0**-11 if type_ is dtypes.F16 else 2.0**-8
        limit = (unit + 2e-4) * np.abs(want) + (2.0**-25 if type_ is dtypes.F16 else 1e-9)
        off = np.abs(got[finite] - want)
        good = bool((off <= limit).all() and np.isnan(got[np.isnan(x)]).all())
        right += good
        if not good:
            worst = np.argmax(off - limit)
            print(f"{name} of {type_.mlir}: {x[finite][worst]} gives {got[finite][worst]}, "
                  f"not {want[worst]}")
    print(f"{right} of {len(cases)} functions are right")


main()
