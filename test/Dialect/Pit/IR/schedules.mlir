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

// CHECK: test.warps = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, swizzles = [1, 2], shared_bytes = 98304>
func.func private @warps() attributes {test.warps = #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, swizzles = [1, 2], shared_bytes = 98304>}

// CHECK: test.threads = #pit.gpu_schedule<multiply = scalar, tile = [32, 128], workers = [8, 16], depth = 16, stages = 2, blocks = 2>
func.func private @threads() attributes {test.threads = #pit.gpu_schedule<multiply = scalar, tile = [32, 128], workers = [8, 16], depth = 16, stages = 2, blocks = 2>}

// CHECK: test.groups = #pit.gpu_schedule<multiply = wgmma, tile = [64, 64], workers = [4, 1], producers = 4, stages = 2, shared_bytes = 40960>
func.func private @groups() attributes {test.groups = #pit.gpu_schedule<multiply = wgmma, tile = [64, 64], workers = [4, 1], producers = 4, stages = 2, shared_bytes = 40960>}

// CHECK: test.hopper = #pit.gpu_schedule<multiply = wgmma, tile = [64, 512], workers = [4, 2], producers = 4, depth = 64, stages = 2, a = 1, load_a = tma_tile, load_b = tma_tile, cluster = 2, splits = 8>
func.func private @hopper() attributes {test.hopper = #pit.gpu_schedule<multiply = wgmma, tile = [64, 512], workers = [4, 2], producers = 4, depth = 64, stages = 2, a = 1, load_a = tma_tile, load_b = tma_tile, cluster = 2, splits = 8>}

// CHECK: test.fills = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_row_gather, fill_rows = 512, fill_bytes = 8192, shared_bytes = 221440>
func.func private @fills() attributes {test.fills = #pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_row_gather, fill_rows = 512, fill_bytes = 8192, shared_bytes = 221440>}
