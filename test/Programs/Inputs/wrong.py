"""Programs of which each fails in another way, for run-programs.test."""

from suite import program

MATRIX = """
func.func @f(%a: tensor<MxNxf32>) -> tensor<Mxf32> {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %e = tensor.empty(#M) : tensor<Mxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.reduce {{ arith.{combiner} }} ins(%s : tensor<MxNxf32>) outs(%z : tensor<Mxf32>)
         dimensions = [1]
  return %r : tensor<Mxf32>
}}
"""
SIZES = [dict(M=4, N=8), dict(M=2, N=70)]
STATIC = ("marked-static",)


@program(MATRIX.format(combiner="addf"), *SIZES)
def other_numbers(d):
    x = d.f32(d.M, d.N, zeros=0.5)
    return x.sum(1) + (d.M == 2)  # right in the first run


@program(MATRIX.format(combiner="nothing"), *SIZES, forms=STATIC)
def not_parsed(d):
    return d.f32(d.M, d.N).sum(1)


@program(MATRIX.format(combiner="mulf"), *SIZES, forms=STATIC)
def not_tiled(d):
    return d.f32(d.M, d.N, zeros=0.5).prod(1) * 0


@program(MATRIX.format(combiner="addf"), *SIZES, forms=STATIC, refused="no sums")
def not_refused(d):
    return d.f32(d.M, d.N).sum(1)


@program(MATRIX.format(combiner="addf"), *SIZES, forms=STATIC)
def without_reference(d):
    d.f32(d.M, d.N)
    return []
