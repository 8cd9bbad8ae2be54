// Schedules print as they are read; what is not the case is left out.

// RUN: pit-opt %s | pit-opt | FileCheck %s

// CHECK: test.block = #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>
func.func private @block() attributes {test.block = #pit.cpu_schedule<
    a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>}

// CHECK: test.elements = #pit.cpu_schedule<a = 1, n = 0, lane = 0, batch = [1, 2], k = [3], lanes = 1, rows = 1, vectors = 8, pack_a = true, pack_b = true, transpose_b = true, transpose_c = true>
func.func private @elements() attributes {test.elements = #pit.cpu_schedule<
    a = 1, n = 0, lane = 0, batch = [1, 2], k = [3], lanes = 1, rows = 1, vectors = 8,
    pack_a = true, pack_b = true, transpose_b = true, transpose_c = true>}

// CHECK: test.tiles = #pit.cpu_schedule<{{.*}}, dots = <group = 4, step = 64, tile_rows = 16, tiles = 2, element = i8, amx = true, zext_a = true, zext_b = true>>
func.func private @tiles() attributes {test.tiles = #pit.cpu_schedule<
    a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 8, vectors = 2,
    dots = <group = 4, step = 64, tile_rows = 16, tiles = 2, element = i8, amx = true, zext_a = true, zext_b = true>>}

// CHECK: test.warps = #pit.portable_schedule<tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 2], shared_bytes = 98304>
func.func private @warps() attributes {test.warps = #pit.portable_schedule<
    tensor_cores = true, workers = [2, 4], per_worker = [64, 64], depth = 32, stages = 4, swizzles = [1, 2], shared_bytes = 98304>}

// CHECK: test.threads = #pit.portable_schedule<workers = [8, 16], per_worker = [4, 8], depth = 16, stages = 2, swizzles = [1, 1], blocks = 2>
func.func private @threads() attributes {test.threads = #pit.portable_schedule<
    workers = [8, 16], per_worker = [4, 8], depth = 16, stages = 2, swizzles = [1, 1], blocks = 2>}

// CHECK: test.groups = #pit.portable_schedule<tensor_cores = true, workers = [4, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1], wgmma = true, producers = 4, shared_bytes = 40960>
func.func private @groups() attributes {test.groups = #pit.portable_schedule<
    tensor_cores = true, workers = [4, 1], per_worker = [16, 64], depth = 1, stages = 2, swizzles = [1, 1],
    wgmma = true, producers = 4, shared_bytes = 40960>}

// CHECK: test.hopper = #pit.hopper_schedule<a = 1, m = 64, n = 512, split_n = true, depth = 64, stages = 2, load_a = tma_tile, load_b = tma_tile, cluster = 2, splits = 8>
func.func private @hopper() attributes {test.hopper = #pit.hopper_schedule<
    a = 1, m = 64, n = 512, split_n = true, depth = 64, stages = 2, load_a = tma_tile, load_b = tma_tile,
    cluster = 2, splits = 8>}

// CHECK: test.fills = #pit.hopper_schedule<a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_row_gather, load_b = cp_async_gather, fill_rows = 512, fill_bytes = 8192, shared_bytes = 221440>
func.func private @fills() attributes {test.fills = #pit.hopper_schedule<
    a = 0, m = 128, n = 256, depth = 64, stages = 4, load_a = tma_row_gather, load_b = cp_async_gather,
    cluster = 1, splits = 1, fill_rows = 512, fill_bytes = 8192, shared_bytes = 221440>}
