// What the attributes of plans, kernels and launches are not.

// RUN: pit-opt %s --split-input-file --verify-diagnostics

func.func @dims(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.mainloop' op has pit.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 0, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>; m, n, batch and k have to be the tile's 3 dimensions, each once}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {pit.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 0, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>} : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

func.func @lane(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{; lane has to be one of the 2 dimensions of operand 1}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {pit.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 2, k = [2], lanes = 16, rows = 6, vectors = 4>} : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

func.func @kind(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'pit.mainloop' op has pit.schedule = 7 : i64; it has to be a #pit.cpu_schedule or a #pit.ampere_schedule}}
  pit.mainloop %c0 to %k step [64] extra_maps [] into %c[%c0, %c0 : index, index] {pit.schedule = 7 : i64} : memref<?x?xf32>
  load {
  ^bb0(%at: index):
    %x = pit.view %a[%c0, %at : index, index] : memref<?x?xf32> -> vector<12x64xf32>
    %y = pit.view %b[%at, %c0 : index, index] : memref<?x?xf32> -> vector<64x192xf32>
    pit.yield %x, %y : vector<12x64xf32>, vector<64x192xf32>
  } compute {
  ^bb0(%xt: vector<12x64xf32>, %yt: vector<64x192xf32>, %at: vector<12x192xf32>):
    %st = pit.contract %xt, %yt, %at tile [12, 192, 64] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<12x64xf32>, vector<64x192xf32>, vector<12x192xf32> {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %acc, %p : f32
      pit.yield %s : f32
    }
    pit.yield %st : vector<12x192xf32>
  } init {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } finish {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{'gpu.func' op has pit.threads = 48 : i64; it has to be a multiple of 32 up to 1024, of i64}}
  gpu.func @threads(%x: memref<?x?xf32>) kernel attributes {pit.threads = 48 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.threads = 64 : i32; it has to be a multiple of 32 up to 1024, of i64}}
  gpu.func @threads_type(%x: memref<?x?xf32>) kernel attributes {pit.threads = 64 : i32} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.shared_bytes = -1 : i64; it has to be 0 or more bytes, of i64}}
  gpu.func @shared(%x: memref<?x?xf32>) kernel attributes {pit.shared_bytes = -1 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.scratch_bytes = "many"; it has to be 0 or more bytes, of i64}}
  gpu.func @scratch(%x: memref<?x?xf32>) kernel attributes {pit.scratch_bytes = "many"} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.partial_bytes = -4 : i64; it has to be 0 or more bytes, of i64}}
  gpu.func @partial(%x: memref<?x?xf32>) kernel attributes {pit.partial_bytes = -4 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.blocks = 0 : i64; it has to be 1 block or more, of i64}}
  gpu.func @blocks(%x: memref<?x?xf32>) kernel attributes {pit.blocks = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.cluster = 32 : i64; it has to be 1 to 16 blocks, of i64}}
  gpu.func @cluster(%x: memref<?x?xf32>) kernel attributes {pit.cluster = 32 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.fills = 1 : i64; it has to be the number of one of its 1 arguments, of i64}}
  gpu.func @fills(%x: memref<?x?xf32>) kernel attributes {pit.fills = 1 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.fills_at_most = 0 : i64; it has to be 1 element or more, of i64}}
  gpu.func @fills_at_most(%x: memref<?x?xf32>) kernel attributes {pit.fills_at_most = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.split = 2 : i64; it has to be without a value}}
  gpu.func @split(%x: memref<?x?xf32>) kernel attributes {pit.split = 2 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.hopper = "k"; it has to be the name of a kernel of the same module}}
  gpu.func @hopper(%x: memref<?x?xf32>) kernel attributes {pit.hopper = "k"} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has pit.tensor_maps = 1 : i64; it has to be a list of tensor maps}}
  gpu.func @maps(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = 1 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has tensor map 0 = {argument = 0 : i64, box = array<i64: 64, 32>} in pit.tensor_maps; {argument = 0 : i64, box = array<i64: 64, 64>, swizzle = 128 : i64} is right}}
  gpu.func @fields(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 32>}]} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{in pit.tensor_maps; argument has to be one of its 1}}
  gpu.func @argument(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{argument = 1 : i64, box = array<i64: 64, 32>, swizzle = 128 : i64}]} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{in pit.tensor_maps; box has to have 1 to 5 extents of 1 to 256}}
  gpu.func @box(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 257>, swizzle = 128 : i64}]} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{in pit.tensor_maps; swizzle has to be 0, 32, 64 or 128 bytes}}
  gpu.func @swizzle(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 32>, swizzle = 16 : i64}]} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{in pit.tensor_maps; along_k has to be one of the 2 dimensions}}
  gpu.func @along_k(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{along_k = 2 : i64, argument = 0 : i64, box = array<i64: 64, 32>, swizzle = 128 : i64}]} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{in pit.tensor_maps; order has to list each of the 2 dimensions, beside along_k}}
  gpu.func @order(%x: memref<?x?xf32>) kernel attributes {pit.tensor_maps = [{along_k = 0 : i64, argument = 0 : i64, box = array<i64: 64, 32>, order = array<i64: 1, 1>, swizzle = 128 : i64}]} {
    gpu.return
  }
}

// -----

// expected-error @+1 {{'builtin.module' op has pit.threads, which is for a kernel, a function}}
module attributes {pit.threads = 64 : i64} {
}

// -----

// expected-error @+1 {{'func.func' op has pit.kernels, which is for a module}}
func.func @kernels() attributes {pit.kernels} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.device = "rocm"; it has to be "cuda"}}
func.func @device() attributes {pit.device = "rocm"} {
  return
}

// -----

// expected-error @+1 {{'builtin.module' op has pit.device, which is for a function}}
module attributes {pit.device = "cuda"} {
}

// -----

// expected-error @+1 {{'func.func' op has pit.fills_for_next, which is for a pit.launch}}
func.func @next() attributes {pit.fills_for_next} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.schedule, which is for a pit.mainloop}}
func.func @schedule() attributes {pit.schedule} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.rule = 1 : i64; it has to be a #pit.rule}}
func.func @rule() attributes {pit.rule = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{a is 2; it has to be operand 0 or 1}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 2, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>}

// -----

// expected-error @+1 {{lane is -1; it has to be a dimension of operand 1}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = -1, k = [2], lanes = 16, rows = 6, vectors = 4>}

// -----

// expected-error @+1 {{vectors is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 0>}

// -----

// expected-error @+1 {{lanes is 12; it has to be a power of two}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 12, rows = 6, vectors = 4>}

// -----

// expected-error @+1 {{rows is 6; without m, the dimension of rows, it has to be 1}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>}

// -----

// expected-error @+1 {{dots need both m and k}}
func.func private @f() attributes {test.schedule = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, lanes = 16, rows = 6, vectors = 4, dots = <group = 2, step = 32, tile_rows = 16, tiles = 2, element = bf16>>}

// -----

// expected-error @+1 {{tiles is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.dot_schedule<group = 2, step = 32, tile_rows = 16, tiles = 0, element = bf16>}

// -----

// expected-error @+1 {{step is 31; it has to be a multiple of group, 2}}
func.func private @f() attributes {test.schedule = #pit.dot_schedule<group = 2, step = 31, tile_rows = 16, tiles = 2, element = bf16>}

// -----

// expected-error @+1 {{element is 'f32'; 2 of them have to be as wide as a sum, 32 bits}}
func.func private @f() attributes {test.schedule = #pit.dot_schedule<group = 2, step = 32, tile_rows = 16, tiles = 2, element = f32>}

// -----

// expected-error @+1 {{workers has 3 numbers; it has to have 2, for m and n}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4, 1], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{per_worker has 0; its numbers have to be 1 to 4096}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 0], depth = 32, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{depth is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 0, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{stages is 1; it has to be 2 or more: one is loaded while another one is multiplied}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 1, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{shared_bytes is -1; it has to be 0 or more}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1], shared_bytes = -1>}

// -----

// expected-error @+1 {{blocks is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1], blocks = 0>}

// -----

// expected-error @+1 {{parts is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1], parts = 0>}

// -----

// expected-error @+1 {{workers is 2 x 32 threads; it has to be a multiple of 4 x 8, a warp}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<workers = [2, 32], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{workers is 8 x 8, 2048 threads; a block has up to 1024}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [8, 8], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{per_worker has 40; a warp takes multiples of 16}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 40], depth = 32, stages = 4, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{wgmma takes warps in groups of four along m, not 2 of them}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1], wgmma = true>}

// -----

// expected-error @+1 {{wgmma takes warps in groups of four along m, not 4 threads}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<workers = [4, 8], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1], wgmma = true>}

// -----

// expected-error @+1 {{producers is 2; a block has 4 warps that load or none, and 4 only with wgmma}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [4, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1], wgmma = true, producers = 2>}

// -----

// expected-error @+1 {{producers is 4; a block has 4 warps that load or none, and 4 only with wgmma}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [4, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1], producers = 4>}

// -----

// expected-error @+1 {{workers has 576460752303423496; its numbers have to be 1 to 4096}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [576460752303423496, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{depth is 1 and stages is 4611686018427387904; shared memory takes fewer than 16384}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [4, 1], per_worker = [16, 64], depth = 1, stages = 4611686018427387904, swizzles = [1, 1]>}

// -----

// expected-error @+1 {{swizzles has 3; chunks are shifted by 1, 2 or 4 places}}
func.func private @f() attributes {test.schedule = #pit.ampere_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 3]>}

// -----

// expected-error @+1 {{a is 2; it has to be operand 0 or 1}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 2, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{stages is 1; it has to be 2 or more: one is loaded while another one is multiplied}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 1, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{m is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 0, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{m is 64; it has to be a multiple of 128 without split_n}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 64, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{m is 96; it has to be a multiple of 64}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 96, n = 256, split_n = true, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{n is 100; it has to be a multiple of 8}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 100, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{n is 264; it has to be a multiple of 16 with split_n}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 264, split_n = true, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{cluster is 9; it has to be 1 to 8 blocks}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 9>}

// -----

// expected-error @+1 {{parts is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, parts = 0>}

// -----

// expected-error @+1 {{strips is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, strips = 0>}

// -----

// expected-error @+1 {{fill_rows is -1; it has to be 0 or more}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = -1>}

// -----

// expected-error @+1 {{fill_bytes is 0 for 512 rows; it has to be a multiple of 16, and 0 if no rows are filled}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = 512>}

// -----

// expected-error @+1 {{fill_bytes is 1000 for 512 rows; it has to be a multiple of 16, and 0 if no rows are filled}}
func.func private @f() attributes {test.schedule = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = 512, fill_bytes = 1000>}

// -----

// expected-error @+1 {{'func.func' op has pit.hopper_schedule, which is for a pit.mainloop}}
func.func @hopper() attributes {pit.hopper_schedule} {
  return
}
