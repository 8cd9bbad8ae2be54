"""Sums of products: matrices, vectors, tensors of higher rank, in several types."""

import numpy as np

from suite import program


def product(name, types, shapes):
    """The text of a named op on two tensors and an initial result."""
    left, right, out = (f"tensor<{'x'.join([*shape, type_])}>"
                        for shape, type_ in zip(shapes, types))
    return f"""
func.func @f(%a: {left}, %b: {right}, %c: {out}) -> {out} {{
  %s = pit.sparse %a : {left}
  %r = linalg.{name} ins(%s, %b : {left}, {right}) outs(%c : {out}) -> {out}
  return %r : {out}
}}
"""


F32 = ("f32", "f32", "f32")
MATMUL = ("MK", "KN", "MN")
SIZES = [dict(M=8, K=12, N=10), dict(M=1, K=1, N=1), dict(M=0, K=3, N=4), dict(M=5, K=0, N=4),
         dict(M=67, K=130, N=41)]


@program(product("matmul", F32, MATMUL), *SIZES)
def matmul(d):
    a, b, c = d.f32(d.M, d.K, zeros=0.8), d.f32(d.K, d.N), d.f32(d.M, d.N)
    return c + a @ b


@program(product("matmul", ("f64", "f64", "f64"), MATMUL), *SIZES)
def matmul_f64(d):
    a, b, c = d.f64(d.M, d.K, zeros=0.8), d.f64(d.K, d.N), d.f64(d.M, d.N)
    return c + a @ b


@program(product("matmul", ("f16", "f16", "f32"), MATMUL), *SIZES)
def matmul_f16_f32(d):
    a, b, c = d.f16(d.M, d.K, zeros=0.8), d.f16(d.K, d.N), d.f32(d.M, d.N)
    return c + a @ b


@program(product("matmul", ("bf16", "bf16", "bf16"), MATMUL), *SIZES)
def matmul_bf16(d):
    a, b, c = d.bf16(d.M, d.K, zeros=0.8), d.bf16(d.K, d.N), d.bf16(d.M, d.N)
    return c + a @ b


@program(product("matmul", ("i8", "i8", "i32"), MATMUL), *SIZES)
def matmul_i8_i32(d):
    a, b, c = d.i8(d.M, d.K, zeros=0.8), d.i8(d.K, d.N), d.i32(d.M, d.N)
    return c + a @ b


@program(product("matmul", ("i32", "i32", "i32"), MATMUL), *SIZES)
def matmul_i32(d):
    a, b, c = d.i32(d.M, d.K, zeros=0.8), d.i32(d.K, d.N), d.i32(d.M, d.N)
    return c + a @ b


@program(product("matvec", F32, ("MK", "K", "M")), *SIZES)
def matvec(d):
    a, x, y = d.f32(d.M, d.K, zeros=0.8), d.f32(d.K), d.f32(d.M)
    return y + a @ x


@program(product("vecmat", F32, ("K", "KN", "N")), *SIZES)
def vecmat(d):
    x, b, y = d.f32(d.K, zeros=0.6), d.f32(d.K, d.N), d.f32(d.N)
    return y + x @ b


@program(product("dot", F32, ("K", "K", "")), *SIZES)
def dot(d):
    a, b, c = d.f32(d.K, zeros=0.6), d.f32(d.K), d.f32()
    return c + a @ b


@program(product("batch_matmul", F32, ("BMK", "BKN", "BMN")), dict(B=3, M=8, K=12, N=10),
         dict(B=0, M=8, K=12, N=10), dict(B=5, M=33, K=35, N=37))
def batch_matmul(d):
    a, b, c = d.f32(d.B, d.M, d.K, zeros=0.8), d.f32(d.B, d.K, d.N), d.f32(d.B, d.M, d.N)
    return c + np.einsum("bmk,bkn->bmn", a, b)


@program(product("batch_matvec", F32, ("BMK", "BK", "BM")), dict(B=3, M=8, K=12),
         dict(B=7, M=65, K=35))
def batch_matvec(d):
    a, x, y = d.f32(d.B, d.M, d.K, zeros=0.8), d.f32(d.B, d.K), d.f32(d.B, d.M)
    return y + np.einsum("bmk,bk->bm", a, x)


@program(product("batch_reduce_matmul", F32, ("BMK", "BKN", "MN")), dict(B=3, M=8, K=12, N=10),
         dict(B=5, M=33, K=35, N=37))
def batch_reduce_matmul(d):
    a, b, c = d.f32(d.B, d.M, d.K, zeros=0.8), d.f32(d.B, d.K, d.N), d.f32(d.M, d.N)
    return c + np.einsum("bmk,bkn->mn", a, b)


@program(product("mmt4d", F32, ("MKHJ", "NKWJ", "MNHW")), dict(M=2, K=3, N=4, H=8, J=4, W=8),
         dict(M=3, K=5, N=1, H=5, J=1, W=7))
def mmt4d(d):
    a = d.f32(d.M, d.K, d.H, d.J, zeros=0.5, micro=(1, 1, d.H, 1))
    b, c = d.f32(d.N, d.K, d.W, d.J), d.f32(d.M, d.N, d.H, d.W)
    return c + np.einsum("mkhj,nkwj->mnhw", a, b)


def transposed(maps, left, right):
    return f"""
func.func @f(%a: tensor<{left}xf32>, %b: tensor<{right}xf32>, %c: tensor<MxNxf32>)
    -> tensor<MxNxf32> {{
  %s = pit.sparse %a : tensor<{left}xf32>
  %r = linalg.matmul indexing_maps = [{maps}]
         ins(%s, %b : tensor<{left}xf32>, tensor<{right}xf32>)
         outs(%c : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}}
"""


def map_of(*results):
    return f"affine_map<(m, n, k) -> ({', '.join(results)})>"


@program(transposed(", ".join([map_of(*"km"), map_of(*"kn"), map_of(*"mn")]), "KxM", "KxN"), *SIZES)
def matmul_transpose_a(d):
    a, b, c = d.f32(d.K, d.M, zeros=0.8), d.f32(d.K, d.N), d.f32(d.M, d.N)
    return c + a.T @ b


@program(transposed(", ".join([map_of(*"mk"), map_of(*"nk"), map_of(*"mn")]), "MxK", "NxK"), *SIZES)
def matmul_transpose_b(d):
    a, b, c = d.f32(d.M, d.K, zeros=0.8), d.f32(d.N, d.K), d.f32(d.M, d.N)
    return c + a @ b.T


# The same sum for a matrix and for each of its columns.
@program("""
func.func @f(%a: tensor<MxKxf32>, %b: tensor<KxNxf32>) -> (tensor<MxNxf32>, tensor<MxNxf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxKxf32>
  %K = tensor.dim %a, %c1 : tensor<MxKxf32>
  %N = tensor.dim %b, %c1 : tensor<KxNxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %s = pit.sparse %a : tensor<MxKxf32>
  %whole = linalg.matmul ins(%s, %b : tensor<MxKxf32>, tensor<KxNxf32>)
             outs(%z : tensor<MxNxf32>) -> tensor<MxNxf32>
  %columns = scf.for %j = %c0 to %N step %c1 iter_args(%acc = %z) -> tensor<MxNxf32> {
    %x = tensor.extract_slice %b[0, %j] [#K, 1] [1, 1] : tensor<KxNxf32> to tensor<Kxf32>
    %y = tensor.extract_slice %acc[0, %j] [#M, 1] [1, 1] : tensor<MxNxf32> to tensor<Mxf32>
    %v = linalg.matvec ins(%s, %x : tensor<MxKxf32>, tensor<Kxf32>) outs(%y : tensor<Mxf32>)
           -> tensor<Mxf32>
    %n = tensor.insert_slice %v into %acc[0, %j] [#M, 1] [1, 1]
           : tensor<Mxf32> into tensor<MxNxf32>
    scf.yield %n : tensor<MxNxf32>
  }
  return %whole, %columns : tensor<MxNxf32>, tensor<MxNxf32>
}
""", *SIZES)
def matmul_and_matvecs(d):
    a, b = d.f32(d.M, d.K, zeros=0.8), d.f32(d.K, d.N)
    return a @ b, a @ b


# Both factors have zeros; one of them is packed.
@program("""
func.func @f(%a: tensor<MxKxf64>, %b: tensor<KxNxf64>, %c: tensor<MxNxf64>) -> tensor<MxNxf64> {
  %s = pit.sparse %a : tensor<MxKxf64>
  %t = pit.sparse %b : tensor<KxNxf64>
  %r = linalg.matmul ins(%s, %t : tensor<MxKxf64>, tensor<KxNxf64>)
         outs(%c : tensor<MxNxf64>) -> tensor<MxNxf64>
  return %r : tensor<MxNxf64>
}
""", *SIZES)
def matmul_of_two_sparse(d):
    a, b = d.f64(d.M, d.K, zeros=0.8), d.f64(d.K, d.N, zeros=0.8)
    return d.f64(d.M, d.N) + a @ b


# C += A B where S is not zero, times S.
SAMPLED = """
func.func @f(%p: tensor<MxNxf32>, %a: tensor<MxKxf32>, %b: tensor<KxNxf32>, %c: tensor<MxNxf32>)
    -> tensor<MxNxf32> {
  %s = pit.sparse %p : tensor<MxNxf32>
  %r = linalg.generic #[ij ik kj -> ij]
         ins(%s, %a, %b : tensor<MxNxf32>, tensor<MxKxf32>, tensor<KxNxf32>)
         outs(%c : tensor<MxNxf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %0 = arith.mulf %y, %z : f32
    %1 = arith.mulf %x, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
"""


@program(SAMPLED, *SIZES)
def sampled_matmul(d):
    s, a, b = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M, d.K), d.f32(d.K, d.N)
    return d.f32(d.M, d.N) + s * (a @ b)


# The same in two ops: a product, and what it is sampled by.
@program("""
func.func @f(%p: tensor<MxNxf32>, %a: tensor<MxKxf32>, %b: tensor<KxNxf32>) -> tensor<MxNxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %p, %c0 : tensor<MxNxf32>
  %N = tensor.dim %p, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %d = linalg.matmul ins(%a, %b : tensor<MxKxf32>, tensor<KxNxf32>)
         outs(%z : tensor<MxNxf32>) -> tensor<MxNxf32>
  %s = pit.sparse %p : tensor<MxNxf32>
  %r = linalg.mul ins(%s, %d : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
""", *SIZES)
def sampled_matmul_in_two_ops(d):
    s, a, b = d.f32(d.M, d.N, zeros=0.8), d.f32(d.M, d.K), d.f32(d.K, d.N)
    return s * (a @ b)


# The product is wanted where a mask has it; a sum follows.
@program("""
func.func @f(%p: tensor<MxNxi1>, %a: tensor<MxKxf32>, %b: tensor<KxNxf32>, %v: tensor<Mxf32>)
    -> (tensor<MxNxf32>, tensor<Mxf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %p, %c0 : tensor<MxNxi1>
  %N = tensor.dim %p, %c1 : tensor<MxNxi1>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %d = linalg.matmul ins(%a, %b : tensor<MxKxf32>, tensor<KxNxf32>)
         outs(%z : tensor<MxNxf32>) -> tensor<MxNxf32>
  %s = pit.sparse %d mask(%p : tensor<MxNxi1>) : tensor<MxNxf32>
  %r = linalg.generic #[ij -> i] ins(%s : tensor<MxNxf32>) outs(%v : tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.addf %o, %x : f32
    linalg.yield %1 : f32
  } -> tensor<Mxf32>
  return %s, %r : tensor<MxNxf32>, tensor<Mxf32>
}
""", *SIZES)
def sampled_matmul_and_sum(d):
    mask, a, b, v = d.i1(d.M, d.N, true=0.2), d.f32(d.M, d.K), d.f32(d.K, d.N), d.f32(d.M)
    product_ = np.where(mask, a @ b, 0)
    return product_, v + product_.sum(1)


# Matricized tensor times Khatri-Rao product.
@program("""
func.func @f(%b: tensor<IxKxLxf32>, %c: tensor<KxJxf32>, %d: tensor<LxJxf32>,
             %a: tensor<IxJxf32>) -> tensor<IxJxf32> {
  %s = pit.sparse %b : tensor<IxKxLxf32>
  %r = linalg.generic #[ikl kj lj -> ij]
         ins(%s, %c, %d : tensor<IxKxLxf32>, tensor<KxJxf32>, tensor<LxJxf32>)
         outs(%a : tensor<IxJxf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.mulf %z, %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<IxJxf32>
  return %r : tensor<IxJxf32>
}
""", dict(I=2, K=3, L=4, J=5), dict(I=17, K=9, L=33, J=5), dict(I=2, K=3, L=0, J=5))
def mttkrp(d):
    b, c = d.f32(d.I, d.K, d.L, zeros=0.8), d.f32(d.K, d.J)
    right, a = d.f32(d.L, d.J), d.f32(d.I, d.J)
    return a + np.einsum("ikl,kj,lj->ij", b, c, right)


# A matrix of blocks of 2 x 2 times a vector.
@program("""
func.func @f(%a: tensor<IxJx2x2xf64>, %x: tensor<Jx2xf64>, %y: tensor<Ix2xf64>)
    -> tensor<Ix2xf64> {
  %s = pit.sparse %a : tensor<IxJx2x2xf64>
  %r = linalg.generic #[ijkl jl -> ik] ins(%s, %x : tensor<IxJx2x2xf64>, tensor<Jx2xf64>)
         outs(%y : tensor<Ix2xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %0 = arith.mulf %u, %v : f64
    %1 = arith.addf %o, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<Ix2xf64>
  return %r : tensor<Ix2xf64>
}
""", dict(I=3, J=4), dict(I=21, J=40))
def blocks_times_vector(d):
    a = d.f64(d.I, d.J, 2, 2, zeros=0.7, micro=(1, 1, 2, 2))
    x, y = d.f64(d.J, 2), d.f64(d.I, 2)
    return y + np.einsum("ijkl,jl->ik", a, x)


# (A - zero point) B in i8, accumulated in i32.
@program("""
func.func @f(%a: tensor<MxKxi8>, %b: tensor<KxNxi8>, %c: tensor<MxNxi32>) -> tensor<MxNxi32> {
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %s = pit.sparse %a background(2 : i8) : tensor<MxKxi8>
  %r = linalg.quantized_matmul
         ins(%s, %b, %two, %zero : tensor<MxKxi8>, tensor<KxNxi8>, i32, i32)
         outs(%c : tensor<MxNxi32>) -> tensor<MxNxi32>
  return %r : tensor<MxNxi32>
}
""", *SIZES)
def quantized_matmul(d):
    a = d.given("i8", d.numbers((d.M, d.K), -8, 7, 0.8, None) + 2)
    b, c = d.i8(d.K, d.N), d.i32(d.M, d.N)
    return c + (a - 2) @ b


# The zero point is known at run time only.
@program("""
func.func @f(%a: tensor<MxKxi8>, %b: tensor<KxNxi8>, %p: i32, %q: i32, %c: tensor<MxNxi32>)
    -> tensor<MxNxi32> {
  %s = pit.sparse %a : tensor<MxKxi8>
  %r = linalg.quantized_matmul
         ins(%s, %b, %p, %q : tensor<MxKxi8>, tensor<KxNxi8>, i32, i32)
         outs(%c : tensor<MxNxi32>) -> tensor<MxNxi32>
  return %r : tensor<MxNxi32>
}
""", *SIZES, tiled=False)
def quantized_matmul_any_zero_point(d):
    a, b = d.i8(d.M, d.K, zeros=0.8), d.i8(d.K, d.N)
    p, q = d.scalar("i32", 3), d.scalar("i32", -2)
    return d.i32(d.M, d.N) + (a - p) @ (b - q)


# X_ij *= a_i b_j.
@program("""
func.func @f(%p: tensor<MxNxf64>, %a: tensor<Mxf64>, %b: tensor<Nxf64>) -> tensor<MxNxf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %p, %c0 : tensor<MxNxf64>
  %N = tensor.dim %p, %c1 : tensor<MxNxf64>
  %e = tensor.empty(#M, #N) : tensor<MxNxf64>
  %s = pit.sparse %p : tensor<MxNxf64>
  %r = linalg.generic #[ij i j -> ij]
         ins(%s, %a, %b : tensor<MxNxf64>, tensor<Mxf64>, tensor<Nxf64>)
         outs(%e : tensor<MxNxf64>) {
  ^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
    %0 = arith.mulf %y, %z : f64
    %1 = arith.mulf %x, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<MxNxf64>
  return %r : tensor<MxNxf64>
}
""", *SIZES)
def outer_scale(d):
    x, a, b = d.f64(d.M, d.N, zeros=0.7), d.f64(d.M), d.f64(d.N)
    return x * np.outer(a, b)


# A B C in one chain; both products have a sparse left side.
@program("""
func.func @f(%a: tensor<MxKxf32>, %b: tensor<KxNxf32>, %d: tensor<NxPxf32>) -> tensor<MxPxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %M = tensor.dim %a, %c0 : tensor<MxKxf32>
  %N = tensor.dim %b, %c1 : tensor<KxNxf32>
  %P = tensor.dim %d, %c1 : tensor<NxPxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %g = tensor.empty(#M, #P) : tensor<MxPxf32>
  %y = linalg.fill ins(%zero : f32) outs(%g : tensor<MxPxf32>) -> tensor<MxPxf32>
  %s = pit.sparse %a : tensor<MxKxf32>
  %ab = linalg.matmul ins(%s, %b : tensor<MxKxf32>, tensor<KxNxf32>)
         outs(%z : tensor<MxNxf32>) -> tensor<MxNxf32>
  %t = pit.sparse %ab : tensor<MxNxf32>
  %r = linalg.matmul ins(%t, %d : tensor<MxNxf32>, tensor<NxPxf32>)
         outs(%y : tensor<MxPxf32>) -> tensor<MxPxf32>
  return %r : tensor<MxPxf32>
}
""", dict(M=8, K=12, N=10, P=4), dict(M=67, K=33, N=41, P=18), dict(M=3, K=2, N=0, P=4))
def chain_of_two(d):
    a = d.f32(d.M, d.K, zeros=0.8, micro=(4, d.K or 1))
    b, c = d.f32(d.K, d.N), d.f32(d.N, d.P)
    return a @ b @ c
