// Invalid attributes of plans, and invalid discardable attributes.

// RUN: pit-opt %s --split-input-file --verify-diagnostics

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
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4, 1], depth = 32, stages = 4>}

// -----

// expected-error @+1 {{tile has 0; its numbers have to be 1 to 65536}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 0], workers = [2, 4], depth = 32, stages = 4>}

// -----

// expected-error @+1 {{depth is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 0, stages = 4>}

// -----

// expected-error @+1 {{stages is 1; it has to be 2 or more: one is loaded while another one is multiplied}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 1>}

// -----

// expected-error @+1 {{shared_bytes is -1; it has to be 0 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, shared_bytes = -1>}

// -----

// expected-error @+1 {{blocks is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, blocks = 0>}

// -----

// expected-error @+1 {{splits is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, splits = 0>}

// -----

// expected-error @+1 {{workers is 2 x 32 threads; it has to be a multiple of 4 x 8, a warp}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = scalar, tile = [128, 2048], workers = [2, 32], depth = 32, stages = 4>}

// -----

// expected-error @+1 {{workers is 8 x 8, 2048 threads with producers; a block has up to 1024}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [512, 512], workers = [8, 8], depth = 32, stages = 4>}

// -----

// expected-error @+1 {{tile has 160 along n; it has to be a multiple of 64, for workers of multiples of 16}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 160], workers = [2, 4], depth = 32, stages = 4>}

// -----

// expected-error @+1 {{workers is 2 x 1; wgmma takes warps in groups of four along m}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [32, 64], workers = [2, 1], stages = 2>}

// -----

// expected-error @+1 {{a = 1, loaders by TMA, clusters, column_blocks and fill_rows are of products that producers load, and producers is 0}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, cluster = 2>}

// -----

// expected-error @+1 {{producers is 2; a block has 4 warps that load or none, and 4 only with wgmma}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [64, 64], workers = [4, 1], producers = 2, stages = 2>}

// -----

// expected-error @+1 {{producers is 4; a block has 4 warps that load or none, and 4 only with wgmma}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [64, 64], workers = [4, 1], producers = 4, stages = 2>}

// -----

// expected-error @+1 {{workers has 576460752303423496; its numbers have to be 1 to 65536}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [64, 64], workers = [576460752303423496, 1], stages = 2>}

// -----

// expected-error @+1 {{depth is 1 and stages is 4611686018427387904; shared memory takes fewer than 16384}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [64, 64], workers = [4, 1], stages = 4611686018427387904>}

// -----

// expected-error @+1 {{swizzles has 3; chunks are shifted by 1, 2 or 4 places}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, swizzles = [1, 3]>}

// -----

// expected-error @+1 {{a is 2; it has to be operand 0 or 1}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, a = 2, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{stages is 1; it has to be 2 or more: one is loaded while another one is multiplied}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 1, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{tile has -128; its numbers have to be 1 to 65536}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [-128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{tile has 64 along m; it has to be a multiple of 128, for workers of multiples of 16}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [64, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{tile has 96 along m; it has to be a multiple of 64, for workers of multiples of 16}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [96, 256], workers = [4, 2], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{tile has 100 along n; it has to be a multiple of 8, for workers of multiples of 8}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 100], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{tile has 264 along n; it has to be a multiple of 16, for workers of multiples of 8}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 264], workers = [4, 2], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile>}

// -----

// expected-error @+1 {{cluster is 9; it has to be 1 to 8 blocks}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 9>}

// -----

// expected-error @+1 {{splits is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, splits = 0>}

// -----

// expected-error @+1 {{column_blocks is 0; it has to be 1 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, column_blocks = 0>}

// -----

// expected-error @+1 {{fill_rows is -1; it has to be 0 or more}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = -1>}

// -----

// expected-error @+1 {{fill_bytes is 0 for 512 rows; it has to be a multiple of 16, and 0 if no rows are filled}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = 512>}

// -----

// expected-error @+1 {{fill_bytes is 1000 for 512 rows; it has to be a multiple of 16, and 0 if no rows are filled}}
func.func private @f() attributes {test.schedule = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, fill_rows = 512, fill_bytes = 1000>}

// -----

// expected-error @+1 {{'func.func' op has pit.schedules, which pit does not know there; the table in Dialect.md has its attributes}}
func.func @unknown() attributes {pit.schedules} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.frame, which is for an argument of a function}}
func.func @frame() attributes {pit.frame} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.element, which is for an argument or a result of a function}}
func.func @element() attributes {pit.element = ui8} {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.frame = 1 : i64; it has to be without a value}}
func.func @frame_value(%f: !llvm.ptr {pit.frame = 1 : i64}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.fame, which pit does not know there}}
func.func @misspelt(%f: !llvm.ptr {pit.fame}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has pit.stream, which pit does not know there}}
func.func private @result() -> (!llvm.ptr {pit.stream})

// -----

// expected-error @+1 {{'func.func' op has pit.manifest = 1 : i64; it has to be an array of i64}}
func.func private @manifest() attributes {pit.manifest = 1 : i64}

// -----

// expected-error @+1 {{'builtin.module' op has pit.require, which is for a function}}
module attributes {pit.require = array<i64: 1>} {
}
