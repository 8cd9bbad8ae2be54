"""Transposes, reshapes, slices, concatenations, pads and packs before, between and after
ops on sparse tensors."""

import numpy as np

from suite import STATIC, program

SIZES = [dict(M=8, N=12), dict(M=1, N=1), dict(M=0, N=5), dict(M=33, N=70)]

DIMS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
"""


def doubled(name, source, shape, empty):
    """An op that doubles each element of a value."""
    rank = len(shape.split("x")) - 1
    dims = "ijklm"[:rank]
    return f"""
  {name} = linalg.generic #[{dims} -> {dims}] ins({source} : tensor<{shape}>)
         outs({empty} : tensor<{shape}>) {{
  ^bb0(%in: f32, %out: f32):
    %double = arith.mulf %in, %two : f32
    linalg.yield %double : f32
  }} -> tensor<{shape}>
"""


@program("""
func.func @f(%a: tensor<MxNxf32>) -> (tensor<NxMxf32>, tensor<NxMxf32>) {""" + DIMS + """
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#N, #M) : tensor<NxMxf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %t = linalg.transpose ins(%s : tensor<MxNxf32>) outs(%e : tensor<NxMxf32>) permutation = [1, 0]
  %r = linalg.generic #[ji -> ij] ins(%s : tensor<MxNxf32>) outs(%e : tensor<NxMxf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  } -> tensor<NxMxf32>
  return %t, %r : tensor<NxMxf32>, tensor<NxMxf32>
}
""", *SIZES)
def transposed(d):
    a = d.f32(d.M, d.N, zeros=0.7)
    return a.T, 2 * a.T


@program("""
func.func @f(%a: tensor<KxMxNxf32>) -> tensor<NxKxMxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %K = tensor.dim %a, %c0 : tensor<KxMxNxf32>
  %M = tensor.dim %a, %c1 : tensor<KxMxNxf32>
  %N = tensor.dim %a, %c2 : tensor<KxMxNxf32>
  %e = tensor.empty(#N, #K, #M) : tensor<NxKxMxf32>
  %s = pit.sparse %a : tensor<KxMxNxf32>
  %r = linalg.generic #[kmn -> nkm] ins(%s : tensor<KxMxNxf32>) outs(%e : tensor<NxKxMxf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<NxKxMxf32>
  return %r : tensor<NxKxMxf32>
}
""", dict(K=3, M=4, N=2), dict(K=5, M=17, N=33))
def permuted(d):
    return d.f32(d.K, d.M, d.N, zeros=0.7).transpose(2, 0, 1)


# Behind a mark each tensor is collapsed, worked on, and expanded.
@program("""
func.func @f(%a: tensor<MxNx4xf32>, %b: tensor<NxMx4xf32>) -> (tensor<Mxf32>, tensor<NxMx4xf32>) {
""" + DIMS + """
  %M = tensor.dim %a, %c0 : tensor<MxNx4xf32>
  %N = tensor.dim %a, %c1 : tensor<MxNx4xf32>
  %s = pit.sparse %a : tensor<MxNx4xf32>
  %flat = tensor.collapse_shape %s [[0], [1, 2]] : tensor<MxNx4xf32> into tensor<MxPxf32>
  %e = tensor.empty(#M) : tensor<Mxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  %sum = linalg.generic #[ij -> i] ins(%flat : tensor<MxPxf32>) outs(%z : tensor<Mxf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  } -> tensor<Mxf32>
  %other = tensor.collapse_shape %b [[0, 1, 2]] : tensor<NxMx4xf32> into tensor<Qxf32>
  %t = pit.sparse %other : tensor<Qxf32>
  %Q = tensor.dim %other, %c0 : tensor<Qxf32>
  %g = tensor.empty(#Q) : tensor<Qxf32>""" + doubled("%u", "%t", "Qxf32", "%g") + """
  %r = tensor.expand_shape %u [[0, 1, 2]] output_shape [#N, #M, 4]
         : tensor<Qxf32> into tensor<NxMx4xf32>
  return %sum, %r : tensor<Mxf32>, tensor<NxMx4xf32>
}
""", dict(M=3, N=5, P=20, Q=60), dict(M=33, N=9, P=36, Q=1188))
def collapsed_and_expanded(d):
    a, b = d.f32(d.M, d.N, 4, zeros=0.7), d.f32(d.N, d.M, 4, zeros=0.7)
    return a.sum((1, 2)), 2 * b


@program("""
func.func @f(%a: tensor<Nxf32>, %b: tensor<6x2xf32>) -> (tensor<f32>, tensor<6x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a : tensor<Nxf32>
  %m = tensor.expand_shape %s [[0, 1]] output_shape [6, 2] : tensor<Nxf32> into tensor<6x2xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic #[ij ij -> .] ins(%m, %b : tensor<6x2xf32>, tensor<6x2xf32>)
         outs(%z : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r, %m : tensor<f32>, tensor<6x2xf32>
}
""", dict(N=12), forms=STATIC)
def reshaped_dot(d):
    a, b = d.f32(12, zeros=0.5).reshape(6, 2), d.f32(6, 2)
    return (a * b).sum(), a


# A tensor of eight dims becomes a matrix, element by element.
@program("""
func.func @f(%a: tensor<7x3x3x3x3x3x5x3xf64>, %c: tensor<7x3xf64>) -> tensor<7x3xf64> {
  %s = pit.sparse %a : tensor<7x3x3x3x3x3x5x3xf64>
  %r = linalg.generic #[ijklmnop -> ij] ins(%s : tensor<7x3x3x3x3x3x5x3xf64>)
         outs(%c : tensor<7x3xf64>) {
  ^bb0(%x: f64, %o: f64):
    %0 = arith.addf %x, %o : f64
    linalg.yield %0 : f64
  } -> tensor<7x3xf64>
  return %r : tensor<7x3xf64>
}
""")
def flattened(d):
    a, c = d.f64(7, 3, 3, 3, 3, 3, 5, 3, zeros=0.98), d.f64(7, 3)
    return c + a.sum((2, 3, 4, 5, 6, 7))


# Rows below rows, columns beside columns; of marked and other tensors.
@program("""
func.func @f(%a: tensor<MxNxf32>, %b: tensor<KxNxf32>, %w: tensor<Nx5xf32>) -> tensor<Px5xf32> {
""" + DIMS + """
  %p = tensor.concat dim(0) %a, %b
         : (tensor<MxNxf32>, tensor<KxNxf32>) -> tensor<PxNxf32>
  %s = pit.sparse %p : tensor<PxNxf32>
  %P = tensor.dim %p, %c0 : tensor<PxNxf32>
  %e = tensor.empty(#P) : tensor<Px5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Px5xf32>) -> tensor<Px5xf32>
  %r = linalg.matmul ins(%s, %w : tensor<PxNxf32>, tensor<Nx5xf32>)
         outs(%z : tensor<Px5xf32>) -> tensor<Px5xf32>
  return %r : tensor<Px5xf32>
}
""", dict(M=2, N=4, K=3, P=5), dict(M=33, N=20, K=18, P=51), dict(M=0, N=4, K=3, P=3))
def concatenated_rows(d):
    a, b, w = d.f32(d.M, d.N, zeros=0.7), d.f32(d.K, d.N, zeros=0.7), d.f32(d.N, 5)
    return np.concatenate([a, b]) @ w


@program("""
func.func @f(%a: tensor<MxNxf32>, %b: tensor<MxKxf32>, %w: tensor<5xMxf32>) -> tensor<5xPxf32> {
""" + DIMS + """
  %s = pit.sparse %a : tensor<MxNxf32>
  %t = pit.sparse %b : tensor<MxKxf32>
  %p = tensor.concat dim(1) %s, %t
         : (tensor<MxNxf32>, tensor<MxKxf32>) -> tensor<MxPxf32>
  %P = tensor.dim %p, %c1 : tensor<MxPxf32>
  %e = tensor.empty(#P) : tensor<5xPxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5xPxf32>) -> tensor<5xPxf32>
  %r = linalg.matmul ins(%w, %p : tensor<5xMxf32>, tensor<MxPxf32>)
         outs(%z : tensor<5xPxf32>) -> tensor<5xPxf32>
  return %r : tensor<5xPxf32>
}
""", dict(M=4, N=2, K=3, P=5), dict(M=20, N=33, K=18, P=51), tiled=False)
def concatenated_columns(d):
    """A mark does not pass through a concatenation."""
    a, b, w = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.K, zeros=0.7), d.f32(5, d.M)
    return w @ np.concatenate([a, b], 1)


# Products of slices: marked behind the slice, with strides and offsets known at run time.
@program("""
func.func @f(%a: tensor<MxNxf32>, %b: tensor<MxNxf32>, %i: index) -> tensor<4x4xf32> {
""" + DIMS + """
  %x = tensor.extract_slice %a[%i, 1] [4, 6] [1, 2] : tensor<MxNxf32> to tensor<4x6xf32>
  %y = tensor.extract_slice %b[1, %i] [6, 4] [1, 1] : tensor<MxNxf32> to tensor<6x4xf32>
  %s = pit.sparse %x : tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%s, %y : tensor<4x6xf32>, tensor<6x4xf32>)
         outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""", dict(M=8, N=12), dict(M=33, N=70))
def product_of_slices(d):
    a, b = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    i = int(d.scalar("i64", 3))
    return a[i:i + 4, 1:13:2][:, :6] @ b[1:7, i:i + 4]


# A product is inserted into what the caller has, at places known at run time, twice.
@program("""
func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x4xf32>, %c: tensor<MxNxf32>, %i: index, %j: index)
    -> (tensor<MxNxf32>, tensor<MxNxf32>) {
""" + DIMS + """
  %s = pit.sparse %a : tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%s, %b : tensor<4x6xf32>, tensor<6x4xf32>)
         outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = tensor.insert_slice %p into %c[%i, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<MxNxf32>
  %r = tensor.insert_slice %p into %c[0, %j] [4, 4] [2, 2] : tensor<4x4xf32> into tensor<MxNxf32>
  return %q, %r : tensor<MxNxf32>, tensor<MxNxf32>
}
""", dict(M=8, N=12), dict(M=33, N=70))
def product_inserted_twice(d):
    a, b, c = d.f32(4, 6, zeros=0.7), d.f32(6, 4), d.f32(d.M, d.N)
    i, j = int(d.scalar("i64", 2)), int(d.scalar("i64", 3))
    first, second = c.copy(), c.copy()
    first[i:i + 4, :4] = a @ b
    second[0:8:2, j:j + 8:2] = a @ b
    return first, second


# A row of a matrix is a vector, and becomes one of another matrix.
@program("""
func.func @f(%a: tensor<MxNxf32>, %c: tensor<MxNxf32>, %i: index) -> tensor<MxNxf32> {
""" + DIMS + """
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %x = tensor.extract_slice %a[%i, 0] [1, #N] [1, 1] : tensor<MxNxf32> to tensor<Nxf32>
  %s = pit.sparse %x : tensor<Nxf32>
  %e = tensor.empty(#N) : tensor<Nxf32>""" + doubled("%u", "%s", "Nxf32", "%e") + """
  %r = tensor.insert_slice %u into %c[0, 0] [1, #N] [1, 1] : tensor<Nxf32> into tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
""", dict(M=8, N=12), dict(M=33, N=70), dict(M=3, N=0))
def rank_reduced(d):
    a, c = d.f32(d.M, d.N, zeros=0.7), d.f32(d.M, d.N)
    i = int(d.scalar("i64", 2))
    c = c.copy()
    c[0] = 2 * a[i]
    return c


# Every second slice of a matrix, one after the other.
@program("""
func.func @f(%a: tensor<MxNxf32>) -> tensor<Mxf32> {
""" + DIMS + """
  %c2 = arith.constant 2 : index
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#M) : tensor<Mxf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  %r = scf.for %i = %c0 to %M step %c2 iter_args(%acc = %z) -> tensor<Mxf32> {
    %x = tensor.extract_slice %a[%i, 0] [1, #N] [1, 1] : tensor<MxNxf32> to tensor<1xNxf32>
    %s = pit.sparse %x : tensor<1xNxf32>
    %o = tensor.extract_slice %acc[%i] [1] [1] : tensor<Mxf32> to tensor<1xf32>
    %v = linalg.generic #[ij -> i] ins(%s : tensor<1xNxf32>) outs(%o : tensor<1xf32>) {
    ^bb0(%y: f32, %p: f32):
      %0 = arith.addf %y, %p : f32
      linalg.yield %0 : f32
    } -> tensor<1xf32>
    %n = tensor.insert_slice %v into %acc[%i] [1] [1] : tensor<1xf32> into tensor<Mxf32>
    scf.yield %n : tensor<Mxf32>
  }
  return %r : tensor<Mxf32>
}
""", dict(M=8, N=12), dict(M=33, N=70), dict(M=0, N=5), dict(M=3, N=0))
def slices_in_a_loop(d):
    a = d.f32(d.M, d.N, zeros=0.7)
    return np.where(np.arange(d.M) % 2 == 0, a.sum(1), 0)


# Rims of several widths; a constant other than zero.
@program("""
func.func @f(%a: tensor<MxNxf32>, %w: tensor<Kx3xf32>) -> (tensor<PxKxf32>, tensor<Px3xf32>) {
""" + DIMS + """
  %p = tensor.pad %a low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<MxNxf32> to tensor<PxKxf32>
  %s = pit.sparse %p : tensor<PxKxf32>
  %P = tensor.dim %p, %c0 : tensor<PxKxf32>
  %e = tensor.empty(#P) : tensor<Px3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<Px3xf32>) -> tensor<Px3xf32>
  %r = linalg.matmul ins(%s, %w : tensor<PxKxf32>, tensor<Kx3xf32>)
         outs(%z : tensor<Px3xf32>) -> tensor<Px3xf32>
  return %p, %r : tensor<PxKxf32>, tensor<Px3xf32>
}
""", dict(M=4, N=5, P=8, K=7), dict(M=33, N=20, P=37, K=22), dict(M=0, N=0, P=4, K=2))
def padded(d):
    a, w = d.f32(d.M, d.N, zeros=0.7), d.f32(d.K, 3)
    p = np.pad(a, ((1, 3), (2, 0)), constant_values=2)
    return p, p @ w


# Packed into blocks, multiplied by blocks, unpacked.
@program("""
func.func @f(%a: tensor<7x16xf32>, %b: tensor<16x13xf32>) -> tensor<7x13xf32> {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %a : tensor<7x16xf32>
  %ea = tensor.empty() : tensor<1x16x8x1xf32>
  %eb = tensor.empty() : tensor<2x16x8x1xf32>
  %ec = tensor.empty() : tensor<1x2x8x8xf32>
  %pa = linalg.pack %s padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 1]
          into %ea : tensor<7x16xf32> -> tensor<1x16x8x1xf32>
  %pb = linalg.pack %b padding_value(%zero : f32) outer_dims_perm = [1, 0]
          inner_dims_pos = [1, 0] inner_tiles = [8, 1]
          into %eb : tensor<16x13xf32> -> tensor<2x16x8x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%ec : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %t = pit.sparse %pa : tensor<1x16x8x1xf32>
  %pc = linalg.mmt4d ins(%t, %pb : tensor<1x16x8x1xf32>, tensor<2x16x8x1xf32>)
          outs(%z : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %e = tensor.empty() : tensor<7x13xf32>
  %r = linalg.unpack %pc inner_dims_pos = [0, 1] inner_tiles = [8, 8]
         into %e : tensor<1x2x8x8xf32> -> tensor<7x13xf32>
  return %r : tensor<7x13xf32>
}
""")
def packed_product(d):
    return d.f32(7, 16, zeros=0.7, micro=(7, 1)) @ d.f32(16, 13)


@program("""
func.func @f(%a: tensor<MxNxf32>) -> (tensor<PxQx4x2xf32>, tensor<MxNxf32>) {
""" + DIMS + """
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %P = arith.ceildivui %M, %c4 : index
  %Q = arith.ceildivui %N, %c2 : index
  %e = tensor.empty(#P, #Q) : tensor<PxQx4x2xf32>
  %p = linalg.pack %a padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2]
         into %e : tensor<MxNxf32> -> tensor<PxQx4x2xf32>
  %s = pit.sparse %p : tensor<PxQx4x2xf32>""" + doubled("%u", "%s", "PxQx4x2xf32", "%e") + """
  %g = tensor.empty(#M, #N) : tensor<MxNxf32>
  %r = linalg.unpack %u inner_dims_pos = [0, 1] inner_tiles = [4, 2]
         into %g : tensor<PxQx4x2xf32> -> tensor<MxNxf32>
  return %u, %r : tensor<PxQx4x2xf32>, tensor<MxNxf32>
}
""", dict(M=7, N=16, P=2, Q=8), dict(M=33, N=71, P=9, Q=36), dict(M=1, N=1, P=1, Q=1))
def packed_and_unpacked(d):
    a = d.f32(d.M, d.N, zeros=0.7)
    whole = np.pad(a, ((0, d.P * 4 - d.M), (0, d.Q * 2 - d.N)))
    return 2 * whole.reshape(d.P, 4, d.Q, 2).transpose(0, 2, 1, 3), 2 * a


# A tensor that is made of its positions, and one of one number.
@program("""
func.func @f(%a: tensor<MxNxf32>) -> (tensor<MxNxf32>, tensor<MxNxf32>) {
""" + DIMS + """
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %g = tensor.generate #M, #N {
  ^bb0(%i: index, %j: index):
    %k = arith.subi %i, %j : index
    %l = arith.index_cast %k : index to i32
    %v = arith.sitofp %l : i32 to f32
    tensor.yield %v : f32
  } : tensor<MxNxf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %e = tensor.empty(#M, #N) : tensor<MxNxf32>
  %r = linalg.mul ins(%s, %g : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %t = tensor.splat %two[#M, #N] : tensor<MxNxf32>
  %q = linalg.mul ins(%s, %t : tensor<MxNxf32>, tensor<MxNxf32>)
         outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %r, %q : tensor<MxNxf32>, tensor<MxNxf32>
}
""", *SIZES)
def generated(d):
    a = d.f32(d.M, d.N, zeros=0.7)
    return a * (np.arange(d.M)[:, None] - np.arange(d.N)), 2 * a


# Element by element into a new tensor, then a product with it.
@program("""
func.func @f(%a: tensor<MxNxf32>, %x: tensor<Nxf32>) -> tensor<Mxf32> {
""" + DIMS + """
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %e = tensor.empty(#N) : tensor<Nxf32>
  %y = scf.for %i = %c0 to %N step %c1 iter_args(%acc = %e) -> tensor<Nxf32> {
    %v = tensor.extract %x[%i] : tensor<Nxf32>
    %w = arith.mulf %v, %two : f32
    %n = tensor.insert %w into %acc[%i] : tensor<Nxf32>
    scf.yield %n : tensor<Nxf32>
  }
  %s = pit.sparse %a : tensor<MxNxf32>
  %g = tensor.empty(#M) : tensor<Mxf32>
  %z = linalg.fill ins(%zero : f32) outs(%g : tensor<Mxf32>) -> tensor<Mxf32>
  %r = linalg.matvec ins(%s, %y : tensor<MxNxf32>, tensor<Nxf32>) outs(%z : tensor<Mxf32>)
         -> tensor<Mxf32>
  return %r : tensor<Mxf32>
}
""", *SIZES, refused_on_cuda="works on a tensor's elements on the host")
def inserted_one_by_one(d):
    a, x = d.f32(d.M, d.N, zeros=0.7), d.f32(d.N)
    return a @ (2 * x)


# Reverse and shifted reads: indices that are no plain dims.
@program("""
func.func @f(%a: tensor<Nxf32>, %k: tensor<Kxf32>) -> tensor<Nxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = tensor.dim %a, %c0 : tensor<Nxf32>
  %e = tensor.empty(#N) : tensor<Nxf32>
  %s = pit.sparse %a : tensor<Nxf32>
  %last = arith.subi %N, %c1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
         outs(%e : tensor<Nxf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %last, %i : index
    %v = tensor.extract %s[%j] : tensor<Nxf32>
    linalg.yield %v : f32
  } -> tensor<Nxf32>
  return %r : tensor<Nxf32>
}
""", dict(N=12, K=3), dict(N=1, K=3), dict(N=0, K=3), dict(N=1000, K=3), tiled=False)
def reversed_order(d):
    a, _ = d.f32(d.N, zeros=0.5), d.f32(d.K)
    return a[::-1]


# Blocks whose extent is known at run time: MLIR cannot pack so.
@program("""
func.func @f(%a: tensor<MxNxf32>, %t: index) -> (tensor<PxNxQx1xf32>, tensor<MxNxf32>) {
""" + DIMS + """
  %M = tensor.dim %a, %c0 : tensor<MxNxf32>
  %N = tensor.dim %a, %c1 : tensor<MxNxf32>
  %P = arith.ceildivui %M, %t : index
  %e = tensor.empty(%P, %N, %t) : tensor<?x?x?x1xf32>
  %s = pit.sparse %a : tensor<MxNxf32>
  %p = linalg.pack %s padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [%t, 1]
         into %e : tensor<MxNxf32> -> tensor<?x?x?x1xf32>
  %g = tensor.empty(#M, #N) : tensor<MxNxf32>
  %r = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [%t, 1]
         into %g : tensor<?x?x?x1xf32> -> tensor<MxNxf32>
  %q = tensor.cast %p : tensor<?x?x?x1xf32> to tensor<PxNxQx1xf32>
  return %q, %r : tensor<PxNxQx1xf32>, tensor<MxNxf32>
}
""", dict(M=7, N=16, P=2, Q=4), dict(M=33, N=71, P=5, Q=8), dict(M=1, N=1, P=1, Q=1),
         refused="the extents of its inner tiles have to be constants")
def packed_by_any_extent(d):
    a = d.f32(d.M, d.N, zeros=0.7)
    t = int(d.scalar("i64", d.Q))
    whole = np.pad(a, ((0, d.P * t - d.M), (0, 0)))
    return whole.reshape(d.P, t, d.N, 1).transpose(0, 2, 1, 3), a


# A constant with zeros.
@program("""
func.func @f(%b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<[[0.0, 1.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, -3.0]]>
         : tensor<3x4xf32>
  %s = pit.sparse %a : tensor<3x4xf32>
  %e = tensor.empty() : tensor<3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %r = linalg.matmul ins(%s, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%z : tensor<3x5xf32>)
         -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
""")
def constant_matrix(d):
    return np.array([[0, 1.5, 0, 0], [0, 0, 0, 0], [2, 0, 0, -3]]) @ d.f32(4, 5)
