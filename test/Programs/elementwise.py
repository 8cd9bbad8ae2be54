"""Ops on each element: functions, selections, comparisons, casts, indices; of one
operand and of several."""

import numpy as np

from suite import program

SIZES = [dict(M=4, N=8), dict(M=1, N=1), dict(M=0, N=5), dict(M=33, N=70)]
VECTORS = [dict(N=32), dict(N=1), dict(N=0), dict(N=4099)]


def matrix(body, type_="f32", out="f32", ins="%s", mark=True):
    """The text of a generic on one matrix that makes a new one."""
    return f"""
func.func @f(%a: tensor<MxNx{type_}>) -> tensor<MxNx{out}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxNx{type_}>
  %N = tensor.dim %a, %c1 : tensor<MxNx{type_}>
  %e = tensor.empty(#M, #N) : tensor<MxNx{out}>
  %s = pit.sparse %a : tensor<MxNx{type_}>
  %r = linalg.generic #[ij -> ij] ins(%s : tensor<MxNx{type_}>) outs(%e : tensor<MxNx{out}>) {{
  ^bb0(%x: {type_}, %o: {out}):
{body}
  }} -> tensor<MxNx{out}>
  return %r : tensor<MxNx{out}>
}}
"""


@program(matrix("""
    %0 = arith.cmpf ugt, %x, %zero : f32
    %1 = arith.select %0, %x, %zero : f32
    linalg.yield %1 : f32"""), *SIZES)
def relu(d):
    return np.maximum(d.f32(d.M, d.N, zeros=0.7), 0)


@program(matrix("""
    %0 = math.copysign %one, %x : f32
    %1 = arith.cmpf une, %x, %zero : f32
    %2 = arith.select %1, %0, %x : f32
    linalg.yield %2 : f32"""), *SIZES)
def sign(d):
    return np.sign(d.f32(d.M, d.N, zeros=0.7))


@program(matrix("""
    %0 = arith.addf %x, %two : f32
    linalg.yield %0 : f32"""), *SIZES)
def plus_two(d):
    """What is skipped becomes two."""
    return d.f32(d.M, d.N, zeros=0.7) + 2


@program(matrix("""
    %0 = math.absf %x : f32
    linalg.yield %0 : f32"""), *SIZES)
def absolute(d):
    return np.abs(d.f32(d.M, d.N, zeros=0.7))


@program(matrix("""
    %0 = math.absi %x : i32
    linalg.yield %0 : i32""", "i32", "i32"), *SIZES)
def absolute_i32(d):
    return np.abs(d.i32(d.M, d.N, zeros=0.7))


@program(matrix("""
    %0 = math.tanh %x : f32
    linalg.yield %0 : f32"""), *SIZES, tolerance=1e-6)
def tanh(d):
    return np.tanh(d.f32(d.M, d.N, zeros=0.7))


@program(matrix("""
    %0 = math.exp %x : f32
    %1 = math.sin %0 : f32
    linalg.yield %1 : f32"""), *SIZES, tolerance=1e-6)
def sine_of_exponential(d):
    return np.sin(np.exp(d.f32(d.M, d.N, zeros=0.7)))


@program(matrix("""
    %0 = math.log1p %x : f32
    %1 = math.sqrt %x : f32
    %2 = math.expm1 %x : f32
    %3 = arith.addf %0, %1 : f32
    %4 = arith.addf %2, %3 : f32
    linalg.yield %4 : f32"""), *SIZES, tolerance=1e-5)
def zero_preserving_math(d):
    x = d.f32(d.M, d.N, zeros=0.7, low=0)
    return np.log1p(x) + np.sqrt(x) + np.expm1(x)


@program(matrix("""
    %0 = math.ceil %x : f32
    %1 = math.floor %x : f32
    %2 = arith.negf %1 : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.divf %3, %two : f32
    linalg.yield %4 : f32"""), *SIZES)
def ceil_floor_negate_halve(d):
    x = d.f32(d.M, d.N, zeros=0.7)
    return np.ceil(x) * -np.floor(x) / 2


# Casts, each of which keeps zero.
def cast(operation, source, target):
    return matrix(f"""
    %0 = arith.{operation} %x : {source} to {target}
    linalg.yield %0 : {target}""", source, target)


@program(cast("sitofp", "i32", "f32"), *SIZES)
def cast_i32_f32(d):
    return d.i32(d.M, d.N, zeros=0.7)


@program(cast("uitofp", "i8", "f64"), *SIZES)
def cast_u8_f64(d):
    return d.i8(d.M, d.N, zeros=0.7) % 256


@program(cast("fptosi", "f32", "i32"), *SIZES)
def cast_f32_i32(d):
    return np.trunc(d.f32(d.M, d.N, zeros=0.7, low=-80, high=80))


@program(cast("fptoui", "f64", "i16"), *SIZES)
def cast_f64_u16(d):
    return np.trunc(d.f64(d.M, d.N, zeros=0.7, low=0, high=80))


@program(cast("extf", "bf16", "f32"), *SIZES)
def cast_bf16_f32(d):
    return d.bf16(d.M, d.N, zeros=0.7)


@program(cast("truncf", "f64", "f16"), *SIZES)
def cast_f64_f16(d):
    return d.f64(d.M, d.N, zeros=0.7)


@program(cast("extsi", "i8", "i64"), *SIZES)
def cast_i8_i64(d):
    return d.i8(d.M, d.N, zeros=0.7)


@program(cast("trunci", "i32", "i8"), *SIZES)
def cast_i32_i8(d):
    x = d.i32(d.M, d.N, zeros=0.7, low=-1000, high=1000)
    return (x + 128) % 256 - 128


@program(cast("bitcast", "f32", "i32"), *SIZES)
def cast_bits(d):
    return d.f32(d.M, d.N, zeros=0.7).astype(np.float32).view(np.int32)


# 5 i j where an element is there; the position itself.
@program(matrix("""
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %0 = arith.index_cast %k : index to i64
    %1 = arith.muli %x, %0 : i64
    linalg.yield %1 : i64""", "i64", "i64"), *SIZES, tiled=False)
def scaled_by_position(d):
    """Its dims may not be permuted."""
    x = d.i64(d.M, d.N, zeros=0.7)
    return x * (np.arange(d.M)[:, None] + np.arange(d.N))


@program(matrix("""
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %0 = arith.index_cast %k : index to i64
    %1 = arith.addi %x, %0 : i64
    linalg.yield %1 : i64""", "i64", "i64"), *SIZES, tiled=False)
def moved_by_position(d):
    """What is skipped is no constant."""
    x = d.i64(d.M, d.N, zeros=0.7)
    return x + (np.arange(d.M)[:, None] + np.arange(d.N))


# Only what lies above the diagonal; only what is greater than 1.
@program(matrix("""
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = arith.cmpi ugt, %j, %i : index
    %1 = arith.select %0, %x, %zero : f32
    linalg.yield %1 : f32"""), *SIZES, tiled=False)
def above_the_diagonal(d):
    return np.triu(d.f32(d.M, d.N, zeros=0.5), 1)


@program(matrix("""
    %0 = arith.cmpf ogt, %x, %two : f32
    %1 = arith.select %0, %x, %zero : f32
    linalg.yield %1 : f32"""), *SIZES)
def greater_than_two(d):
    x = d.f32(d.M, d.N, zeros=0.5, low=-40, high=40)
    return np.where(x > 2, x, 0)


# What is there keeps its value, what is not becomes one.
@program(matrix("""
    %0 = arith.cmpf oeq, %x, %zero : f32
    %1 = arith.select %0, %one, %x : f32
    linalg.yield %1 : f32"""), *SIZES)
def complement_is_one(d):
    x = d.f32(d.M, d.N, zeros=0.7)
    return np.where(x == 0, 1, x)


@program(matrix("""
    %0 = arith.maximumf %x, %zero : f32
    %1 = arith.minimumf %0, %two : f32
    linalg.yield %1 : f32"""), *SIZES)
def clamped(d):
    return np.clip(d.f32(d.M, d.N, zeros=0.7, low=-40, high=40), 0, 2)


def pair(body, type_="f32", out="f32", second=False):
    """The text of a generic on two matrices."""
    operands = "%s, %t" if second else "%s, %b"
    mark = f"  %t = pit.sparse %b : tensor<MxNx{type_}>\n" if second else ""
    return f"""
func.func @f(%a: tensor<MxNx{type_}>, %b: tensor<MxNx{type_}>) -> tensor<MxNx{out}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxNx{type_}>
  %N = tensor.dim %a, %c1 : tensor<MxNx{type_}>
  %e = tensor.empty(#M, #N) : tensor<MxNx{out}>
  %s = pit.sparse %a : tensor<MxNx{type_}>
{mark}  %r = linalg.generic #[ij ij -> ij]
         ins({operands} : tensor<MxNx{type_}>, tensor<MxNx{type_}>) outs(%e : tensor<MxNx{out}>) {{
  ^bb0(%x: {type_}, %y: {type_}, %o: {out}):
{body}
  }} -> tensor<MxNx{out}>
  return %r : tensor<MxNx{out}>
}}
"""


@program(pair("""
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32"""), *SIZES)
def times(d):
    return d.f32(d.M, d.N, zeros=0.7) * d.f32(d.M, d.N)


@program(pair("""
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32""", second=True), *SIZES)
def times_both_sparse(d):
    return d.f32(d.M, d.N, zeros=0.7) * d.f32(d.M, d.N, zeros=0.7)


@program(pair("""
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32"""), *SIZES)
def plus(d):
    return d.f32(d.M, d.N, zeros=0.7) + d.f32(d.M, d.N)


@program(pair("""
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32""", second=True), *SIZES)
def plus_both_sparse(d):
    return d.f32(d.M, d.N, zeros=0.7) + d.f32(d.M, d.N, zeros=0.7)


@program(pair("""
    %0 = arith.subf %y, %x : f32
    linalg.yield %0 : f32"""), *SIZES)
def minus(d):
    a, b = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    return b - a


@program(pair("""
    %0 = arith.cmpf olt, %x, %y : f32
    linalg.yield %0 : i1""", out="i1"), *SIZES, tiled=False)
def compared(d):
    """0 < y is neither a constant nor an operand."""
    return d.f32(d.M, d.N, zeros=0.7) < d.f32(d.M, d.N)


@program(pair("""
    %0 = arith.cmpf ogt, %x, %zero : f32
    %1 = arith.select %0, %x, %y : f32
    linalg.yield %1 : f32"""), *SIZES)
def the_positive_one(d):
    """What is skipped is the other one's."""
    a, b = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    return np.where(a > 0, a, b)


# An overlap becomes the lesser one; where there is one alone, it is scaled or kept.
@program(pair("""
    %two = arith.constant 2.0 : f32
    %p = arith.cmpf une, %x, %zero : f32
    %q = arith.cmpf une, %y, %zero : f32
    %both = arith.andi %p, %q : i1
    %least = arith.minimumf %x, %y : f32
    %double = arith.mulf %x, %two : f32
    %0 = arith.select %p, %double, %y : f32
    %1 = arith.select %both, %least, %0 : f32
    linalg.yield %1 : f32""", second=True), *SIZES)
def overlap_left_right(d):
    a, b = d.f32(d.M, d.N, zeros=0.5), d.f32(d.M, d.N, zeros=0.5)
    return np.where((a != 0) & (b != 0), np.minimum(a, b), np.where(a != 0, 2 * a, b))


@program(pair("""
    %p = arith.cmpi ne, %x, %y : i32
    %0 = arith.select %p, %x, %y : i32
    %1 = arith.xori %0, %y : i32
    %2 = arith.andi %1, %x : i32
    linalg.yield %2 : i32""", "i32", "i32"), *SIZES)
def bits_of_integers(d):
    a, b = d.i32(d.M, d.N, zeros=0.7), d.i32(d.M, d.N)
    return (np.where(a != b, a, b) ^ b) & a


@program(pair("""
    %0 = arith.divsi %x, %y : i32
    linalg.yield %0 : i32""", "i32", "i32"), *SIZES)
def divided_integers(d):
    a, b = d.i32(d.M, d.N, zeros=0.7, low=-80, high=80), d.i32(d.M, d.N, low=1, high=7)
    return np.trunc(a / b)


# A vector's ops, one after the other: scaled, added to, multiplied, summed up.
@program("""
func.func @f(%a: tensor<Nxf64>, %b: tensor<Nxf64>)
    -> (tensor<Nxf64>, tensor<Nxf64>, tensor<Nxf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f64
  %zero = arith.constant 0.0 : f64
  %N = tensor.dim %a, %c0 : tensor<Nxf64>
  %e = tensor.empty(#N) : tensor<Nxf64>
  %e0 = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %s = pit.sparse %a : tensor<Nxf64>
  %t = pit.sparse %b : tensor<Nxf64>
  %scaled = linalg.generic #[i -> i] ins(%s : tensor<Nxf64>) outs(%e : tensor<Nxf64>) {
  ^bb0(%x: f64, %o: f64):
    %0 = arith.mulf %x, %two : f64
    linalg.yield %0 : f64
  } -> tensor<Nxf64>
  %sum = linalg.generic #[i i -> i] ins(%s, %t : tensor<Nxf64>, tensor<Nxf64>)
           outs(%e : tensor<Nxf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %0 = arith.addf %x, %y : f64
    linalg.yield %0 : f64
  } -> tensor<Nxf64>
  %product = linalg.generic #[i i -> i] ins(%s, %t : tensor<Nxf64>, tensor<Nxf64>)
           outs(%e : tensor<Nxf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %0 = arith.mulf %x, %y : f64
    linalg.yield %0 : f64
  } -> tensor<Nxf64>
  %dot = linalg.generic #[i i -> .] ins(%s, %t : tensor<Nxf64>, tensor<Nxf64>)
           outs(%z : tensor<f64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %0 = arith.mulf %x, %y : f64
    %1 = arith.addf %0, %o : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  return %scaled, %sum, %product, %dot
    : tensor<Nxf64>, tensor<Nxf64>, tensor<Nxf64>, tensor<f64>
}
""", *VECTORS)
def vector_ops(d):
    a, b = d.f64(d.N, zeros=0.7), d.f64(d.N, zeros=0.7)
    return 2 * a, a + b, a * b, a @ b


# A vector that the caller owns is scaled in place of itself.
@program("""
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
         outs(%a : tensor<8xf32>) {
  ^bb0(%x: f32):
    %1 = arith.mulf %x, %two : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
""", tiled=False)
def scaled_init(d):
    return 2 * d.f32(8, zeros=0.7)


# Tensors of rank 3: scaled, multiplied.
@program("""
func.func @f(%a: tensor<KxMxNxf32>, %b: tensor<KxMxNxf32>)
    -> (tensor<KxMxNxf32>, tensor<KxMxNxf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = arith.constant 2.0 : f32
  %K = tensor.dim %a, %c0 : tensor<KxMxNxf32>
  %M = tensor.dim %a, %c1 : tensor<KxMxNxf32>
  %N = tensor.dim %a, %c2 : tensor<KxMxNxf32>
  %e = tensor.empty(#K, #M, #N) : tensor<KxMxNxf32>
  %s = pit.sparse %a : tensor<KxMxNxf32>
  %0 = linalg.generic #[ijk -> ijk] ins(%s : tensor<KxMxNxf32>) outs(%e : tensor<KxMxNxf32>) {
  ^bb0(%x: f32, %o: f32):
    %2 = arith.mulf %x, %two : f32
    linalg.yield %2 : f32
  } -> tensor<KxMxNxf32>
  %1 = linalg.mul ins(%s, %b : tensor<KxMxNxf32>, tensor<KxMxNxf32>)
         outs(%e : tensor<KxMxNxf32>) -> tensor<KxMxNxf32>
  return %0, %1 : tensor<KxMxNxf32>, tensor<KxMxNxf32>
}
""", dict(K=3, M=4, N=8), dict(K=2, M=0, N=8), dict(K=5, M=17, N=33))
def tensor_ops(d):
    a, b = d.f32(d.K, d.M, d.N, zeros=0.8), d.f32(d.K, d.M, d.N)
    return 2 * a, a * b


# The numbers of a result are multiplied into what is there already.
@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<MxNxf32>) -> tensor<MxNxf32> {
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij -> ij] ins(%s : tensor<MxNxf32>) outs(%c : tensor<MxNxf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %o : f32
    linalg.yield %0 : f32
  } -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
""", *SIZES, tiled=False)
def times_init(d):
    return d.f32(d.M, d.N, zeros=0.7) * d.f32(d.M, d.N)


@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<MxNxf32>) -> tensor<MxNxf32> {
  %s = pit.sparse %a : tensor<MxNxf32>
  %r = linalg.generic #[ij -> ij] ins(%s : tensor<MxNxf32>) outs(%c : tensor<MxNxf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  } -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
""", *SIZES)
def plus_init(d):
    return d.f32(d.M, d.N, zeros=0.7) + d.f32(d.M, d.N)


# One op with three results.
@program("""
func.func @f(%a: tensor<MxNxf32>, %b: tensor<MxNxf32>)
    -> (tensor<MxNxf32>, tensor<MxNxf32>, tensor<NxMxi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %g = tensor.empty(#N, #M) : tensor<NxMxi1>
  %s = pit.sparse %a : tensor<MxNxf32>
  %r:3 = linalg.generic #[ij ij -> ij ij ji] ins(%s, %b : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e, %e, %g : tensor<MxNxf32>, tensor<MxNxf32>, tensor<NxMxi1>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %p: f32, %q: i1):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %x, %y : f32
    %2 = arith.cmpf ogt, %x, %zero : f32
    linalg.yield %0, %1, %2 : f32, f32, i1
  } -> (tensor<MxNxf32>, tensor<MxNxf32>, tensor<NxMxi1>)
  return %r#0, %r#1, %r#2 : tensor<MxNxf32>, tensor<MxNxf32>, tensor<NxMxi1>
}
""", *SIZES)
def three_results(d):
    a, b = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    return a * b, a + b, (a > 0).T


# Named element-wise ops in a row.
@program("""
func.func @f(%a: tensor<MxNxf32>, %b: tensor<MxNxf32>) -> tensor<MxNxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %0 = linalg.add ins(%s, %b : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %1 = linalg.sub ins(%0, %s : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %2 = linalg.max ins(%1, %s : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %3 = linalg.elementwise kind=#linalg.elementwise_kind<mul>
         ins(%2, %s : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %4 = linalg.square ins(%3 : tensor<MxNxf32>) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %5 = linalg.map { math.absf } ins(%4 : tensor<MxNxf32>) outs(%e : tensor<MxNxf32>)
  return %5 : tensor<MxNxf32>
}
""", *SIZES)
def named_ops(d):
    a, b = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    return np.abs((np.maximum(a + b - a, a) * a) ** 2)


# Complex numbers are no element type.
@program("""
func.func @f(%a: tensor<8xcomplex<f32>>, %b: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %s = pit.sparse %a : tensor<8xcomplex<f32>>
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %r = linalg.generic #[i i -> i]
         ins(%s, %b : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>)
         outs(%e : tensor<8xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>):
    %0 = complex.mul %x, %y : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<8xcomplex<f32>>
  return %r : tensor<8xcomplex<f32>>
}
""", refused="complex")
def complex_product(d):
    return []
