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
