// Invalid attributes of launches.

// RUN: pit-opt %s --split-input-file --verify-diagnostics

// -----

// expected-error @+1 {{threads is 48; it has to be a multiple of 32 up to 1024}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 48>}

// -----

// expected-error @+1 {{threads is 2048; it has to be a multiple of 32 up to 1024}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 2048>}

// -----

// expected-error @+1 {{shared_bytes is -1; it has to be 0 or more bytes}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, shared_bytes = -1>}

// -----

// expected-error @+1 {{scratch_bytes is -8; it has to be 0 or more bytes}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, scratch_bytes = -8>}

// -----

// expected-error @+1 {{stream_bytes is -4; it has to be 0 or more bytes}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = machine, stream_bytes = -4>}

// -----

// expected-error @+1 {{splits is 1 and grid is steps; it has to be 2 or more}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = steps>}

// -----

// expected-error @+1 {{splits is 4 and grid is groups; tiles of steps or rows alone have splits}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = groups, splits = 4>}

// -----

// expected-error @+1 {{partial_bytes is 16 and grid is machine; tiles of steps or rows alone have splits}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = machine, partial_bytes = 16>}

// -----

// expected-error @+1 {{stream_bytes is 16 and grid is tiles; blocks of machine alone share tiles so}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = tiles, stream_bytes = 16>}

// -----

// expected-error @+1 {{cluster is 32; it has to be 1 to 16 blocks}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, cluster = 32>}

// -----

// expected-error @+1 {{cluster is 2 and grid is rows; clusters are of iterations, tiles or machine}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, grid = rows, splits = 2, cluster = 2>}

// -----

// expected-error @+1 {{fills is -2; it has to be 0 or more, the number of an argument}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, fills = -2>}

// -----

// expected-error @+1 {{fills_at_most is -1; it has to be 0 or more elements}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, fills = 0, fills_at_most = -1>}

// -----

// expected-error @+1 {{fills_at_most is 8, and nothing says which argument the kernel fills}}
func.func private @f() attributes {test.launch = #pit.launch_info<threads = 64, fills_at_most = 8>}

// -----

// expected-error @+1 {{argument is -1; it has to be 0 or more, the number of a kernel's argument}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = -1, box = [64], swizzle = 128>}

// -----

// expected-error @+1 {{box has 6 extents; it has to have 1 to 5}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [1, 1, 1, 1, 1, 64], swizzle = 128>}

// -----

// expected-error @+1 {{box has an extent of 257 elements; it has to be 1 to 256}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [64, 257], swizzle = 128>}

// -----

// expected-error @+1 {{swizzle is 16 bytes; it has to be 0, 32, 64 or 128}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [64, 32], swizzle = 16>}

// -----

// expected-error @+1 {{along_k is 2; it has to be one of the 2 dimensions of box}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [64, 32], swizzle = 128, along_k = 2>}

// -----

// expected-error @+1 {{order stands beside along_k alone}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [64, 32], swizzle = 128, order = [1, 0]>}

// -----

// expected-error @+1 {{order is [1, 1]; it has to list each of the 2 dimensions of box once}}
func.func private @f() attributes {test.map = #pit.tensor_map<argument = 0, box = [64, 32], swizzle = 128, along_k = 0, order = [1, 1]>}

// -----

// expected-error @+1 {{'builtin.module' op has pit.launch_info, which is for a kernel, a function}}
module attributes {pit.launch_info = #pit.launch_info<threads = 64>} {
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{'gpu.func' op has pit.launch_info = 1 : i64; it has to be a #pit.launch_info}}
  gpu.func @k(%x: memref<?x?xf32>) kernel attributes {pit.launch_info = 1 : i64} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{'gpu.func' op fills argument 1 of 1}}
  gpu.func @k(%x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 64, fills = 1>} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{has tensor map 0 = #pit.tensor_map<argument = 1, box = [64, 32], swizzle = 128> of argument 1 of 1}}
  gpu.func @k(%x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 64, tensor_maps = [<argument = 1, box = [64, 32], swizzle = 128>]>} {
    gpu.return
  }
}

// -----

gpu.module @pit_kernels {
  // expected-error @+1 {{with a box of rank 1; argument 0 is 'memref<?x?xf32>' of rank 2}}
  gpu.func @k(%x: memref<?x?xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 64, tensor_maps = [<argument = 0, box = [64], swizzle = 128>]>} {
    gpu.return
  }
}
