"""Products whose rows, and what they sum up, stand in tensors as lists of ids."""

import numpy as np

from suite import program

PRODUCT = """
func.func @f(%a: tensor<HxMxKxf16>, %b: tensor<KxNxf16>, %rows: tensor<HxMxi32>, %of: tensor<Lxi32>,
             %out: tensor<HxMxNxf32>) -> tensor<HxMxNxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %H = tensor.dim %out, %c0 : tensor<HxMxNxf32>
  %M = tensor.dim %out, %c1 : tensor<HxMxNxf32>
  %N = tensor.dim %out, %c2 : tensor<HxMxNxf32>
  %L = tensor.dim %of, %c0 : tensor<Lxi32>
  %r = pit.forall (%h, %i, %j) = (%c0, %c0, %c0) to (%H, %M, %N) step (1, 64, 64) iter_args(%o = %out)
      -> (tensor<HxMxNxf32>) {
    %at = pit.ids %rows[%h, %i] : tensor<HxMxi32> -> !pit.ids<64>
    %e = tensor.empty() : tensor<1x64x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
    %sum = pit.for (%p) = (%c0) to (%L) step (32) iter_args(%acc = %start) -> (tensor<1x64x64xf32>) {
      %ids = pit.ids %of[%p] : tensor<Lxi32> -> !pit.ids<32>
      %x = pit.sread %a[%h, %at : !pit.ids<64>, %ids : !pit.ids<32>] : tensor<HxMxKxf16> -> tensor<1x64x32xf16>
      %y = pit.sread %b[%ids : !pit.ids<32>, %j] : tensor<KxNxf16> -> tensor<32x64xf16>
      %z = linalg.generic #[hmk kn -> hmn]
          ins(%x, %y : tensor<1x64x32xf16>, tensor<32x64xf16>) outs(%acc : tensor<1x64x64xf32>) {
      ^bb0(%s: f16, %t: f16, %u: f32):
        %sw = arith.extf %s : f16 to f32
        %tw = arith.extf %t : f16 to f32
        %v = arith.mulf %sw, %tw : f32
        %w = arith.addf %u, %v : f32
        linalg.yield %w : f32
      } -> tensor<1x64x64xf32>
      pit.yield %z : tensor<1x64x64xf32>
    }
    %w = pit.swrite %sum into %o[%h, %at : !pit.ids<64>, %j] : tensor<1x64x64xf32> into tensor<HxMxNxf32>
    pit.yield %w : tensor<HxMxNxf32>
  }
  return %r : tensor<HxMxNxf32>
}
"""


@program(PRODUCT, dict(H=2, M=130, N=70, K=90, L=50), dict(H=1, M=1, N=1, K=1, L=3), dict(H=2, M=64, N=64, K=64, L=64),
         dict(H=0, M=5, N=5, K=5, L=5), dict(H=2, M=65, N=3, K=4, L=0), tiled=False,
         forms=("marked", "marked-static"))
def lists_of_rows(d):
    a, b = d.f16(d.H, d.M, d.K), d.f16(d.K, d.N)
    rows = np.array([d.random.permutation(d.M) for _ in range(d.H)]).reshape(d.H, d.M)
    d.given("i32", rows)
    of = d.given("i32", d.random.integers(0, max(d.K, 1), d.L)).astype(int)
    d.f32(d.H, d.M, d.N)
    return a[:, :, of] @ b[of]
