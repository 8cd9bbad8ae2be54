"""Reductions: to a number, of rows and columns, by other combiners than a sum, with
several results; pooling."""

import numpy as np

from suite import program

SIZES = [dict(M=4, N=8), dict(M=1, N=1), dict(M=0, N=5), dict(M=3, N=0), dict(M=33, N=70)]
VECTORS = [dict(N=32), dict(N=1), dict(N=0), dict(N=4099)]


def reduction(combiner, type_, background="", maps="i -> .", shape="N", out=""):
    """The text of a reduction by one operation onto an argument."""
    dims = "x".join([*shape, type_])
    out = "x".join([*out, type_])
    mark = f" background({background} : {type_})" if background else ""
    return f"""
func.func @f(%a: tensor<{dims}>, %c: tensor<{out}>) -> tensor<{out}> {{
  %s = pit.sparse %a{mark} : tensor<{dims}>
  %r = linalg.generic #[{maps}] ins(%s : tensor<{dims}>) outs(%c : tensor<{out}>) {{
  ^bb0(%x: {type_}, %o: {type_}):
    %0 = arith.{combiner} %o, %x : {type_}
    linalg.yield %0 : {type_}
  }} -> tensor<{out}>
  return %r : tensor<{out}>
}}
"""


@program(reduction("addf", "f32"), *VECTORS)
def sum_f32(d):
    x, c = d.f32(d.N, zeros=0.8), d.f32()
    return c + x.sum()


@program(reduction("addf", "f16"), dict(N=32), dict(N=0), dict(N=300))
def sum_f16(d):
    x, c = d.f16(d.N, zeros=0.8, scale=1), d.f16(scale=1)
    return c + x.sum()


@program(reduction("addf", "bf16"), dict(N=32), dict(N=0), dict(N=300))
def sum_bf16(d):
    x, c = d.bf16(d.N, zeros=0.8, scale=1), d.bf16(scale=1)
    return c + x.sum()


@program(reduction("addi", "i32"), *VECTORS)
def sum_i32(d):
    x, c = d.i32(d.N, zeros=0.8), d.i32()
    return c + x.sum()


@program(reduction("mulf", "f32", "1.0"), dict(N=8), dict(N=0), dict(N=100))
def product_f32(d):
    """Of what is no one; the values are powers of two."""
    powers = d.numbers((d.N,), -2, 2, 0.7, None)
    x, c = d.given("f32", 2.0**powers), d.f32()
    return c * x.prod()


@program(reduction("mulf", "f32"), dict(N=8), dict(N=0), dict(N=100), tiled=False)
def product_with_zeros(d):
    """A zero counts in a product."""
    x, c = d.f32(d.N, zeros=0.3), d.f32()
    return c * x.prod()


@program(reduction("muli", "i32", "1"), dict(N=8), dict(N=0), dict(N=100))
def product_i32(d):
    chosen = d.numbers((d.N,), 1, 2, 0.9, None)
    x, c = d.given("i32", np.where(chosen == 2, -2, 1)), d.i32()
    value = int(c) * (-2) ** int((x == -2).sum())
    return (value + 2**31) % 2**32 - 2**31


@program(reduction("maximumf", "f32", "0xFF800000"), *VECTORS)
def maximum_f32(d):
    holes = d.numbers((d.N,), 1, 1, 0.7, None) == 0
    x = d.given("f32", np.where(holes, -np.inf, d.numbers((d.N,), -8, 8, 0, None)))
    c = d.f32()
    return max(c, x.max(initial=-np.inf))


@program(reduction("minimumf", "f32", "0x7F800000"), *VECTORS)
def minimum_f32(d):
    holes = d.numbers((d.N,), 1, 1, 0.7, None) == 0
    x = d.given("f32", np.where(holes, np.inf, d.numbers((d.N,), -8, 8, 0, None)))
    return min(d.f32(), x.min(initial=np.inf))


@program(reduction("maxsi", "i32", "-2147483648"), *VECTORS)
def maximum_i32(d):
    x, c = d.i32(d.N), d.i32()
    return max(c, x.max(initial=-2**31))


@program(reduction("minsi", "i32"), *VECTORS, tiled=False)
def minimum_with_zeros(d):
    """A zero counts in a minimum."""
    x, c = d.i32(d.N, zeros=0.7, low=1, high=9), d.i32(low=1, high=9)
    return min(c, x.min(initial=9))


@program(reduction("andi", "i32", "-1"), *VECTORS)
def and_i32(d):
    x, c = d.i32(d.N), d.i32()
    return c & np.bitwise_and.reduce(x)


@program(reduction("ori", "i32"), *VECTORS)
def or_i32(d):
    x, c = d.i32(d.N, zeros=0.9), d.i32()
    return c | np.bitwise_or.reduce(x)


@program(reduction("xori", "i32"), *VECTORS)
def xor_i32(d):
    x, c = d.i32(d.N, zeros=0.9), d.i32()
    return c ^ np.bitwise_xor.reduce(x)


@program(reduction("ori", "i1"), *VECTORS)
def any_i1(d):
    x, c = d.i1(d.N, true=0.01), d.i1(true=0.1)
    return c | x.any()


@program(reduction("addf", "f64", "", "ij -> i", "MN", "M"), *SIZES)
def sum_of_rows(d):
    x, c = d.f64(d.M, d.N, zeros=0.8), d.f64(d.M)
    return c + x.sum(1)


@program(reduction("addf", "f64", "", "ij -> j", "MN", "N"), *SIZES)
def sum_of_columns(d):
    x, c = d.f64(d.M, d.N, zeros=0.8), d.f64(d.N)
    return c + x.sum(0)


@program(reduction("addi", "i32", "", "ijk -> jk", "MNK", "NK"), dict(M=5, N=3, K=4),
         dict(M=17, N=33, K=6))
def sum_of_planes(d):
    x, c = d.i32(d.M, d.N, d.K, zeros=0.8), d.i32(d.N, d.K)
    return c + x.sum(0)


@program(reduction("maximumf", "f32", "0xFF800000", "ijk -> ik", "MNK", "MK"),
         dict(M=5, N=3, K=4), dict(M=17, N=33, K=6))
def maximum_of_planes(d):
    x, c = d.f32(d.M, d.N, d.K), d.f32(d.M, d.K)
    return np.maximum(c, x.max(1))


@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<Mxf32>) -> tensor<Mxf32> {
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.reduce { arith.addf } ins(%s : tensor<MxNxf32>) outs(%c : tensor<Mxf32>)
         dimensions = [1]
  return %r : tensor<Mxf32>
}
""", *SIZES)
def reduce_op(d):
    x, c = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M)
    return c + x.sum(1)


@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<f32>) -> tensor<f32> {
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij ij -> .] ins(%s, %s : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
""", *SIZES)
def sum_of_squares(d):
    x, c = d.f32(d.M, d.N, zeros=0.8), d.f32()
    return c + (x**2).sum()


# The sum of what is selected by its value; zeros are not.
@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<Mxf32>) -> tensor<Mxf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij -> i] ins(%s : tensor<MxNxf32>) outs(%c : tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf ogt, %x, %zero : f32
    %q = arith.select %p, %x, %zero : f32
    %0 = arith.addf %q, %o : f32
    linalg.yield %0 : f32
  } -> tensor<Mxf32>
  return %r : tensor<Mxf32>
}
""", *SIZES)
def sum_of_positives(d):
    x, c = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M)
    return c + np.maximum(x, 0).sum(1)


# The minimum of what is not zero: a select outside of the combiner.
@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<Mxf32>) -> tensor<Mxf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij -> i] ins(%s : tensor<MxNxf32>) outs(%c : tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf une, %x, %zero : f32
    %q = arith.select %p, %x, %inf : f32
    %0 = arith.minimumf %q, %o : f32
    linalg.yield %0 : f32
  } -> tensor<Mxf32>
  return %r : tensor<Mxf32>
}
""", *SIZES)
def minimum_of_what_is_there(d):
    x, c = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M)
    return np.minimum(c, np.where(x != 0, x, np.inf).min(1, initial=np.inf))


# The product of what is not zero.
@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<Mxf32>) -> tensor<Mxf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij -> i] ins(%s : tensor<MxNxf32>) outs(%c : tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf oeq, %x, %zero : f32
    %q = arith.select %p, %one, %x : f32
    %0 = arith.mulf %q, %o : f32
    linalg.yield %0 : f32
  } -> tensor<Mxf32>
  return %r : tensor<Mxf32>
}
""", *SIZES)
def product_of_what_is_there(d):
    signs = d.numbers((d.M, d.N), -1, 1, 0.6, None)
    x, c = d.given("f32", 2 * signs), d.f32(d.M)
    x = np.where(x == 0, 1, x)
    return c * x.prod(1)


# A difference is no combiner, but a row without numbers changes nothing.
@program(reduction("subf", "f32", "", "ij -> i", "MN", "M"), *SIZES)
def difference_of_rows(d):
    x, c = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M)
    return c - x.sum(1)


# Sum, greatest element and sum of squares at once, from three fills.
@program("""
func.func @f(%a: tensor<MxNxf32>) -> (tensor<Mxf32>, tensor<Mxf32>, tensor<Mxf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %e = tensor.empty(#M) : tensor<Mxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %r:3 = linalg.generic #[ij -> i i i] ins(%s : tensor<MxNxf32>)
           outs(%z, %z, %z : tensor<Mxf32>, tensor<Mxf32>, tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32, %q: f32):
    %0 = arith.addf %o, %x : f32
    %y = math.absf %x : f32
    %1 = arith.maximumf %p, %y : f32
    %2 = arith.mulf %x, %x : f32
    %3 = arith.addf %q, %2 : f32
    linalg.yield %0, %1, %3 : f32, f32, f32
  } -> (tensor<Mxf32>, tensor<Mxf32>, tensor<Mxf32>)
  return %r#0, %r#1, %r#2 : tensor<Mxf32>, tensor<Mxf32>, tensor<Mxf32>
}
""", *SIZES, tiled=False)
def three_reductions(d):
    """max(p, |0|) is not p for every p, so all stay dense."""
    x = d.f32(d.M, d.N, zeros=0.8)
    return x.sum(1), np.abs(x).max(1, initial=0), (x**2).sum(1)


ARGMAX = """
func.func @f(%a: tensor<MxNxf32>) -> (tensor<Mxf32>, tensor<Mxi64>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %e = tensor.empty(#M) : tensor<Mxf32>
  %v = linalg.fill ins(%low : f32) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  %g = tensor.empty(#M) : tensor<Mxi64>
  %k = linalg.fill ins(%none : i64) outs(%g : tensor<Mxi64>) -> tensor<Mxi64>
  %s = pit.sparse %a : tensor<MxNxf32>
  %r:2 = linalg.generic #[ij -> i i] ins(%s : tensor<MxNxf32>)
           outs(%v, %k : tensor<Mxf32>, tensor<Mxi64>) {
  ^bb0(%x: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i64
    %p = arith.cmpf ogt, %x, %best : f32
    %0 = arith.select %p, %x, %best : f32
    %1 = arith.select %p, %i, %at : i64
    linalg.yield %0, %1 : f32, i64
  } -> (tensor<Mxf32>, tensor<Mxi64>)
  return %r#0, %r#1 : tensor<Mxf32>, tensor<Mxi64>
}
"""


@program(ARGMAX, dict(M=4, N=8), dict(M=1, N=1), dict(M=33, N=70), tiled=False)
def argmax(d):
    x = d.f32(d.M, d.N, zeros=0.5)
    return x.max(1), x.argmax(1)


# Sums of a prefix.
@program("""
func.func @f(%a: tensor<Nxi32>) -> (tensor<Nxi32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %N = tensor.dim %a, %c0 : tensor<Nxi32>
  %e = tensor.empty(#N) : tensor<Nxi32>
  %z = tensor.empty() : tensor<i32>
  %k = linalg.fill ins(%zero : i32) outs(%z : tensor<i32>) -> tensor<i32>
  %s = pit.sparse %a : tensor<Nxi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                          affine_map<(i) -> ()>], iterator_types = ["reduction"]}
         ins(%s : tensor<Nxi32>) outs(%e, %k : tensor<Nxi32>, tensor<i32>) {
  ^bb0(%x: i32, %o: i32, %acc: i32):
    %0 = arith.addi %acc, %x : i32
    linalg.yield %0, %0 : i32, i32
  } -> (tensor<Nxi32>, tensor<i32>)
  return %r#0, %r#1 : tensor<Nxi32>, tensor<i32>
}
""", *VECTORS, tiled=False)
def prefix_sums(d):
    x = d.i32(d.N, zeros=0.7)
    return x.cumsum(), x.sum()


# A sum for each of a loop's steps.
@program("""
func.func @f(%a: tensor<MxNxf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = scf.for %i = %c0 to %c1000 step %c1 iter_args(%acc = %zero) -> tensor<f32> {
    %n = linalg.generic #[ij -> .] ins(%s : tensor<MxNxf32>) outs(%acc : tensor<f32>) {
    ^bb0(%x: f32, %o: f32):
      %1 = arith.addf %x, %o : f32
      linalg.yield %1 : f32
    } -> tensor<f32>
    scf.yield %n : tensor<f32>
  }
  return %r : tensor<f32>
}
""", dict(M=2, N=5), dict(M=9, N=7))
def sum_in_a_loop(d):
    return 1000 * d.f32(d.M, d.N, zeros=0.5).sum()


def pooling(kind, type_="f32", background="", attributes=""):
    mark = f" background({background} : {type_})" if background else ""
    return f"""
func.func @f(%a: tensor<BxHxWxCx{type_}>, %k: tensor<3x3x{type_}>, %c: tensor<BxPxQxCx{type_}>)
    -> tensor<BxPxQxCx{type_}> {{
  %s = pit.sparse %a{mark} : tensor<BxHxWxCx{type_}>
  %r = linalg.pooling_nhwc_{kind} {attributes}
         ins(%s, %k : tensor<BxHxWxCx{type_}>, tensor<3x3x{type_}>)
         outs(%c : tensor<BxPxQxCx{type_}>) -> tensor<BxPxQxCx{type_}>
  return %r : tensor<BxPxQxCx{type_}>
}}
"""


POOLED = [dict(B=1, H=4, W=4, C=1, P=2, Q=2), dict(B=3, H=9, W=12, C=5, P=7, Q=10),
          dict(B=0, H=4, W=4, C=1, P=2, Q=2)]
STRIDED = [dict(B=1, H=9, W=9, C=3, P=4, Q=4), dict(B=3, H=13, W=7, C=17, P=6, Q=3)]


def windows(x, p, q, stride=1):
    """The 3 x 3 windows of images: batch, row, column, place in the window, channel."""
    return np.stack([x[:, i:i + (p - 1) * stride + 1:stride, j:j + (q - 1) * stride + 1:stride]
                     for i in range(3) for j in range(3)], 3)


@program(pooling("sum"), *POOLED)
def pooling_sum(d):
    x, _ = d.f32(d.B, d.H, d.W, d.C, zeros=0.7, micro=(1, 4, 4, 1)), d.f32(3, 3)
    return d.f32(d.B, d.P, d.Q, d.C) + windows(x, d.P, d.Q).sum(3)


@program(pooling("max", background="0xFF800000"), *POOLED)
def pooling_max(d):
    x, _ = d.f32(d.B, d.H, d.W, d.C), d.f32(3, 3)
    return np.maximum(d.f32(d.B, d.P, d.Q, d.C), windows(x, d.P, d.Q).max(3))


@program(pooling("min", "i32", "2147483647"), *POOLED)
def pooling_min_i32(d):
    x, _ = d.i32(d.B, d.H, d.W, d.C), d.i32(3, 3)
    return np.minimum(d.i32(d.B, d.P, d.Q, d.C), windows(x, d.P, d.Q).min(3))


@program(pooling("sum", attributes="{strides = dense<2> : tensor<2xi64>}"), *STRIDED)
def pooling_sum_strided(d):
    x, _ = d.f32(d.B, d.H, d.W, d.C, zeros=0.7, micro=(1, 20, 20, 1)), d.f32(3, 3)
    return d.f32(d.B, d.P, d.Q, d.C) + windows(x, d.P, d.Q, 2).sum(3)


# Two tensors with zeros, multiplied and summed along their last dim.
@program("""
func.func @f(%a: tensor<MxNxKxi32>, %b: tensor<MxNxKxi32>, %c: tensor<MxNxi32>) -> tensor<MxNxi32> {
  %s = pit.sparse %a : tensor<MxNxKxi32>
  %t = pit.sparse %b : tensor<MxNxKxi32>
  %r = linalg.generic #[ijk ijk -> ij] ins(%s, %t : tensor<MxNxKxi32>, tensor<MxNxKxi32>)
         outs(%c : tensor<MxNxi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %o, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<MxNxi32>
  return %r : tensor<MxNxi32>
}
""", dict(M=2, N=3, K=4), dict(M=17, N=5, K=33), dict(M=2, N=3, K=0), dict(M=0, N=3, K=4))
def products_of_rows(d):
    a, b = d.i32(d.M, d.N, d.K, zeros=0.7), d.i32(d.M, d.N, d.K, zeros=0.7)
    return d.i32(d.M, d.N) + (a * b).sum(2)
