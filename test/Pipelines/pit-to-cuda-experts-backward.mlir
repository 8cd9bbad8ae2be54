// RUN: pit-opt %s --pit-to-gpu-tiles="chip=sm_90a round-partials=true" | FileCheck %s
// RUN: pit-opt %s --pit-to-cuda="chip=sm_90a round-partials=true device-code=ptx" --mlir-print-ir-after=pit-schedule-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=KERNELS

// The gradients of a gated layer of experts, from the rows of gates and ups that the forward
// kept: six products, of naive ops on (tokens, experts, hidden) values. None of these is
// ever there, only rows that the one index lists.

// CHECK-LABEL: func.func @moe_backward(
// CHECK-NOT: tensor<?x4x256x
// CHECK: %[[I:.*]] = pit.index routing
// CHECK-NOT: = pit.index 
// CHECK-NOT: tensor<?x4x256x
// The gradient of the hidden rows, in the order of the index.
// CHECK: pit.for %{{.*}} at %[[AT:.*]] in %[[I]][
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%[[AT]] : !pit.ids<128>, %c0] : tensor<128x256xbf16> into tensor<?x256xbf16>
// What is between the products is one op on rows, which also has their dot
// products: the gradients of the router's weights.
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins({{[^:]*}} : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?xf32>)
// CHECK-SAME: outs({{[^:]*}} : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?xf32>)
// Experts' parts of the gradient of x, and their sums.
// CHECK: pit.transpose_index %[[I]]
// Gradients of weights sum over the rows of an expert: ids of x, positions of what is packed.
// CHECK: pit.for %[[ID:.*]] at %[[P:.*]] in %[[I]][%{{.*}}] {{.*}} chunk 64
// CHECK-DAG: pit.sread %arg0[%[[ID]] : !pit.ids<64>, %c0]
// CHECK-DAG: pit.sread %{{.*}}[%[[P]] : !pit.ids<64>, %{{.*}}]
// CHECK-NOT: tensor<?x4x256x
// CHECK: return

// Each product is computed by a kernel of Hopper; two pairs of them by the same code.
// KERNELS-COUNT-4: {schedules = [#pit.gpu_schedule<multiply = wgmma
// KERNELS-NOT: pit.mainloop

func.func @moe_backward(%x: tensor<?x64xbf16>, %router_weights: tensor<?x2xf32>, %experts: tensor<?x2xi64>, %w_gate: tensor<4x64x256xbf16>, %w_up: tensor<4x64x256xbf16>, %w_down: tensor<4x256x64xbf16>, %dy: tensor<?x64xbf16>, %kept_w_gate: tensor<?x256xbf16>, %kept_w_up: tensor<?x256xbf16>) -> (tensor<?x64xbf16>, tensor<?x2xf32>, tensor<4x64x256xbf16>, tensor<4x64x256xbf16>, tensor<4x256x64xbf16>) {
  %c_0 = arith.constant 0 : index
  %c_1 = arith.constant 2 : index
  %c_2 = arith.constant 4 : index
  %c_3 = arith.constant 1.00000000000000000e+00 : bf16
  %c_4 = arith.constant 0.00000000000000000e+00 : f32
  %c_5 = arith.constant 1.00000000000000000e+00 : f32
  %c_6 = arith.constant 0.00000000000000000e+00 : bf16
  %d_t = tensor.dim %x, %c_0 : tensor<?x64xbf16>
  %d_r = tensor.dim %kept_w_gate, %c_0 : tensor<?x256xbf16>
  %1 = arith.muli %d_t, %c_1 : index
  %2 = pit.index routing %experts shape(%d_t, %c_2) : tensor<?x2xi64> -> !pit.index<micro_tile = [1, 1], axis = 0>
  %3 = tensor.empty(%d_t) : tensor<?x4xbf16>
  %4 = linalg.fill ins(%c_3 : bf16) outs(%3 : tensor<?x4xbf16>) -> tensor<?x4xbf16>
  %5 = pit.sparse %4 index(%2 : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<?x4xbf16>
  %6 = tensor.empty(%d_t) : tensor<?x4x256xf32>
  %7 = linalg.fill ins(%c_4 : f32) outs(%6 : tensor<?x4x256xf32>) -> tensor<?x4x256xf32>
  %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%5, %dy, %w_down : tensor<?x4xbf16>, tensor<?x64xbf16>, tensor<4x256x64xbf16>) outs(%7 : tensor<?x4x256xf32>) {
  ^bb0(%8: bf16, %9: bf16, %10: bf16, %11: f32):
    %12 = arith.extf %8 : bf16 to f32
    %13 = arith.extf %9 : bf16 to f32
    %14 = arith.mulf %12, %13 : f32
    %15 = arith.extf %10 : bf16 to f32
    %16 = arith.mulf %14, %15 : f32
    %17 = arith.addf %11, %16 : f32
    linalg.yield %17 : f32
  } -> tensor<?x4x256xf32>
  %19 = tensor.empty(%d_t) : tensor<?x4x256xbf16>
  %23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%18 : tensor<?x4x256xf32>) outs(%19 : tensor<?x4x256xbf16>) {
  ^bb0(%20: f32, %21: bf16):
    %22 = arith.truncf %20 : f32 to bf16
    linalg.yield %22 : bf16
  } -> tensor<?x4x256xbf16>
  %24 = pit.sread %23[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?x4x256xbf16> -> tensor<?x256xbf16>
  %25 = tensor.empty(%d_t) : tensor<?x4xf32>
  %26 = linalg.fill ins(%c_4 : f32) outs(%25 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %35 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%router_weights, %experts : tensor<?x2xf32>, tensor<?x2xi64>) outs(%26 : tensor<?x4xf32>) {
  ^bb0(%27: f32, %28: i64, %29: f32):
    %30 = arith.index_cast %28 : i64 to index
    %31 = linalg.index 1 : index
    %32 = arith.cmpi eq, %30, %31 : index
    %33 = arith.select %32, %27, %c_4 : f32
    %34 = arith.addf %29, %33 : f32
    linalg.yield %34 : f32
  } -> tensor<?x4xf32>
  %36 = pit.sread %35[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?x4xf32> -> tensor<?xf32>
  %37 = tensor.empty(%1) : tensor<?x256xbf16>
  %38 = tensor.empty(%1) : tensor<?x256xbf16>
  %39 = tensor.empty(%1) : tensor<?x256xbf16>
  %67:3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%24, %kept_w_gate, %kept_w_up, %36 : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?xf32>) outs(%37, %38, %39 : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) {
  ^bb0(%40: bf16, %41: bf16, %42: bf16, %43: f32, %44: bf16, %45: bf16, %46: bf16):
    %47 = arith.extf %41 : bf16 to f32
    %48 = arith.extf %42 : bf16 to f32
    %49 = arith.negf %47 : f32
    %50 = math.exp %49 fastmath<afn> : f32
    %51 = arith.addf %50, %c_5 : f32
    %52 = arith.divf %c_5, %51 fastmath<afn> : f32
    %53 = arith.mulf %47, %52 : f32
    %54 = arith.subf %c_5, %52 : f32
    %55 = arith.mulf %53, %54 : f32
    %56 = arith.addf %52, %55 : f32
    %57 = arith.mulf %53, %48 : f32
    %58 = arith.mulf %56, %48 : f32
    %59 = arith.extf %40 : bf16 to f32
    %60 = arith.mulf %59, %43 : f32
    %61 = arith.mulf %60, %58 : f32
    %62 = arith.mulf %60, %53 : f32
    %63 = arith.mulf %43, %57 : f32
    %64 = arith.truncf %61 : f32 to bf16
    %65 = arith.truncf %62 : f32 to bf16
    %66 = arith.truncf %63 : f32 to bf16
    linalg.yield %64, %65, %66 : bf16, bf16, bf16
  } -> (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>)
  %68 = tensor.empty(%d_t) : tensor<?x4x256xbf16>
  %69 = linalg.fill ins(%c_6 : bf16) outs(%68 : tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16>
  %70 = pit.swrite %67#0 into %69[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?x256xbf16> into tensor<?x4x256xbf16>
  %71 = tensor.empty(%d_t) : tensor<?x4x256xbf16>
  %72 = linalg.fill ins(%c_6 : bf16) outs(%71 : tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16>
  %73 = pit.swrite %67#1 into %72[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?x256xbf16> into tensor<?x4x256xbf16>
  %74 = tensor.empty(%d_t) : tensor<?x64xbf16>
  %75 = linalg.fill ins(%c_6 : bf16) outs(%74 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %83 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%5, %70, %w_gate : tensor<?x4xbf16>, tensor<?x4x256xbf16>, tensor<4x64x256xbf16>) outs(%75 : tensor<?x64xbf16>) {
  ^bb0(%76: bf16, %77: bf16, %78: bf16, %79: bf16):
    %80 = arith.mulf %76, %77 : bf16
    %81 = arith.mulf %80, %78 : bf16
    %82 = arith.addf %79, %81 : bf16
    linalg.yield %82 : bf16
  } -> tensor<?x64xbf16>
  %84 = tensor.empty(%d_t) : tensor<?x64xbf16>
  %85 = linalg.fill ins(%c_6 : bf16) outs(%84 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%5, %73, %w_up : tensor<?x4xbf16>, tensor<?x4x256xbf16>, tensor<4x64x256xbf16>) outs(%85 : tensor<?x64xbf16>) {
  ^bb0(%86: bf16, %87: bf16, %88: bf16, %89: bf16):
    %90 = arith.mulf %86, %87 : bf16
    %91 = arith.mulf %90, %88 : bf16
    %92 = arith.addf %89, %91 : bf16
    linalg.yield %92 : bf16
  } -> tensor<?x64xbf16>
  %94 = tensor.empty(%d_t) : tensor<?x64xbf16>
  %99 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%83, %93 : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%94 : tensor<?x64xbf16>) {
  ^bb0(%95: bf16, %96: bf16, %97: bf16):
    %98 = arith.addf %95, %96 : bf16
    linalg.yield %98 : bf16
  } -> tensor<?x64xbf16>
  %100 = tensor.empty(%1) : tensor<?xf32>
  %101 = linalg.fill ins(%c_4 : f32) outs(%100 : tensor<?xf32>) -> tensor<?xf32>
  %121 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%24, %kept_w_gate, %kept_w_up : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) outs(%101 : tensor<?xf32>) {
  ^bb0(%102: bf16, %103: bf16, %104: bf16, %105: f32):
    %106 = arith.extf %103 : bf16 to f32
    %107 = arith.extf %104 : bf16 to f32
    %108 = arith.negf %106 : f32
    %109 = math.exp %108 : f32
    %110 = arith.addf %109, %c_5 : f32
    %111 = arith.divf %c_5, %110 : f32
    %112 = arith.mulf %106, %111 : f32
    %113 = arith.subf %c_5, %111 : f32
    %114 = arith.mulf %112, %113 : f32
    %115 = arith.addf %111, %114 : f32
    %116 = arith.mulf %112, %107 : f32
    %117 = arith.mulf %115, %107 : f32
    %118 = arith.extf %102 : bf16 to f32
    %119 = arith.mulf %118, %116 : f32
    %120 = arith.addf %105, %119 : f32
    linalg.yield %120 : f32
  } -> tensor<?xf32>
  %122 = tensor.empty(%d_t) : tensor<?x4xf32>
  %123 = linalg.fill ins(%c_4 : f32) outs(%122 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %124 = pit.swrite %121 into %123[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?xf32> into tensor<?x4xf32>
  %125 = tensor.empty(%d_t) : tensor<?x2xf32>
  %126 = linalg.fill ins(%c_4 : f32) outs(%125 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %135 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%124, %experts : tensor<?x4xf32>, tensor<?x2xi64>) outs(%126 : tensor<?x2xf32>) {
  ^bb0(%127: f32, %128: i64, %129: f32):
    %130 = arith.index_cast %128 : i64 to index
    %131 = linalg.index 2 : index
    %132 = arith.cmpi eq, %130, %131 : index
    %133 = arith.select %132, %127, %c_4 : f32
    %134 = arith.addf %129, %133 : f32
    linalg.yield %134 : f32
  } -> tensor<?x2xf32>
  %136 = tensor.empty(%d_t) : tensor<?x2xf32>
  %139 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%135 : tensor<?x2xf32>) outs(%136 : tensor<?x2xf32>) {
  ^bb0(%137: f32, %138: f32):
    linalg.yield %137 : f32
  } -> tensor<?x2xf32>
  %140 = tensor.empty() : tensor<4x64x256xbf16>
  %141 = linalg.fill ins(%c_6 : bf16) outs(%140 : tensor<4x64x256xbf16>) -> tensor<4x64x256xbf16>
  %149 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d0)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%5, %x, %70 : tensor<?x4xbf16>, tensor<?x64xbf16>, tensor<?x4x256xbf16>) outs(%141 : tensor<4x64x256xbf16>) {
  ^bb0(%142: bf16, %143: bf16, %144: bf16, %145: bf16):
    %146 = arith.mulf %142, %143 : bf16
    %147 = arith.mulf %146, %144 : bf16
    %148 = arith.addf %145, %147 : bf16
    linalg.yield %148 : bf16
  } -> tensor<4x64x256xbf16>
  %150 = tensor.empty() : tensor<4x64x256xbf16>
  %151 = linalg.fill ins(%c_6 : bf16) outs(%150 : tensor<4x64x256xbf16>) -> tensor<4x64x256xbf16>
  %159 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d0)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%5, %x, %73 : tensor<?x4xbf16>, tensor<?x64xbf16>, tensor<?x4x256xbf16>) outs(%151 : tensor<4x64x256xbf16>) {
  ^bb0(%152: bf16, %153: bf16, %154: bf16, %155: bf16):
    %156 = arith.mulf %152, %153 : bf16
    %157 = arith.mulf %156, %154 : bf16
    %158 = arith.addf %155, %157 : bf16
    linalg.yield %158 : bf16
  } -> tensor<4x64x256xbf16>
  %160 = tensor.empty(%d_t) : tensor<?x4x256xbf16>
  %161 = linalg.fill ins(%c_6 : bf16) outs(%160 : tensor<?x4x256xbf16>) -> tensor<?x4x256xbf16>
  %162 = pit.swrite %67#2 into %161[%2 : !pit.index<micro_tile = [1, 1], axis = 0>] : tensor<?x256xbf16> into tensor<?x4x256xbf16>
  %163 = tensor.empty() : tensor<4x256x64xbf16>
  %164 = linalg.fill ins(%c_6 : bf16) outs(%163 : tensor<4x256x64xbf16>) -> tensor<4x256x64xbf16>
  %172 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d0)>, affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%5, %162, %dy : tensor<?x4xbf16>, tensor<?x4x256xbf16>, tensor<?x64xbf16>) outs(%164 : tensor<4x256x64xbf16>) {
  ^bb0(%165: bf16, %166: bf16, %167: bf16, %168: bf16):
    %169 = arith.mulf %165, %166 : bf16
    %170 = arith.mulf %169, %167 : bf16
    %171 = arith.addf %168, %170 : bf16
    linalg.yield %171 : bf16
  } -> tensor<4x256x64xbf16>
  return %99, %139, %149, %159, %172 : tensor<?x64xbf16>, tensor<?x2xf32>, tensor<4x64x256xbf16>, tensor<4x64x256xbf16>, tensor<4x256x64xbf16>
}

