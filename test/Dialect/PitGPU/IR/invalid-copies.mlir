// RUN: pit-opt %s -split-input-file -verify-diagnostics

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @coordinates(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.load %m[%i] into %s[0] : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @load_no_such_tile(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 2] there is no tile 7 in a stage of 1}}
      pit_gpu.load %m[%i, %i] into %s[7] : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_coordinates(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.add %s[0] to %m[%i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_no_such_tile(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 2] there is no tile 7 in a stage of 1}}
      pit_gpu.add %s[7] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>

func.func @add_boxes(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 3] boxes of '!pit_gpu.tensor_map<128x64xbf16, swizzle = 128>' do not make up a '!pit_gpu.tile<64x64xbf16, swizzle = 128>' of f16, bf16 or f32}}
      pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x128xf8E4M3FN, swizzle = 128>

func.func @add_small_floats(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add 3] boxes of}}
      pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @add_of_a_leader(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader {
        // expected-error @below {{[add 4] all warps of a role add}}
        pit_gpu.add %s[0] to %m[%i, %i] : !stage, !map
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_rows_of_boxes(%s: !stage, %m: !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<128x64xbf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_swizzle(%s: !stage, %m: !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<64x32xbf16, swizzle = 64>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x32xbf16, swizzle = 64>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_elements(%s: !stage, %m: !pit_gpu.tensor_map<64x64xf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<64x64xf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<64x64xf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_few_rows(%s: !stage, %m: !pit_gpu.tensor_map<4x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes of '!pit_gpu.tensor_map<4x64xbf16, swizzle = 128>' do not make up a}}
      pit_gpu.load %m[%i, %i] into %s[0] : !pit_gpu.tensor_map<4x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @boxes_planes(%s: !stage, %m: !pit_gpu.tensor_map<2x64x64xbf16, swizzle = 128>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes}}
      pit_gpu.load %m[%i, %i, %i] into %s[0] : !pit_gpu.tensor_map<2x64x64xbf16, swizzle = 128>, !stage
    }
  }
  return
}

// -----

!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @part_of_a_box(%s: !pit_gpu.stage<[!pit_gpu.tile<64x16xbf16, swizzle = 128>]>, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 3] boxes}}
      pit_gpu.load %m[%i, %i] into %s[0] : !map, !pit_gpu.stage<[!pit_gpu.tile<64x16xbf16, swizzle = 128>]>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_rank(%s: !stage, %x: memref<?xbf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?xbf16>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?xbf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_no_rank(%s: !stage, %x: memref<bf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<bf16>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<bf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_gaps(%s: !stage, %x: memref<?x?xbf16, strided<[?, ?]>>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16, strided<[?, ?]>>' by ids of 'memref<?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16, strided<[?, ?]>>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_ids(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?xi64>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16>' by ids of 'memref<?xi64>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?xi64>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_matrix_of_ids(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?x?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 1] rows of 'memref<?x?xbf16>' by ids of 'memref<?x?xi32>'}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xbf16>, memref<?x?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_elements(%s: !stage, %x: memref<?x?xf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 2] elements of 'memref<?x?xf16>' into a}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[0] : memref<?x?xf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @gather_no_such_tile(%s: !stage, %x: memref<?x?xbf16>, %ids: memref<?xi32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[gather 2] there is no tile 2 in a stage of 1}}
      pit_gpu.gather %x rows %ids[%i] cols %i into %s[2] : memref<?x?xbf16>, memref<?xi32>, !stage
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_elements(%f: !values, %x: memref<?x?xbf16>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<?x?xbf16>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<?x?xbf16>
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_gaps(%f: !values, %x: memref<?x?xf32, strided<[?, 4]>>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<?x?xf32, strided<[?, 4]>>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<?x?xf32, strided<[?, 4]>>
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @store_rank(%f: !values, %x: memref<f32>, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[store 1] '!pit_gpu.fragment<64x64xf32>' to 'memref<f32>'}}
      pit_gpu.store %f to %x[%i, %i] : !values, memref<f32>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>

func.func @half_a_box(%s: !stage, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load 4] a multicast of '!pit_gpu.tile<64x64xbf16, swizzle = 128>' to 2 blocks in boxes of 64 rows}}
      pit_gpu.load %m[%i, %i] into %s[0] multicast 2 : !map, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!row = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>

func.func @rows_along_columns(%s: !stage, %m: !row, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader of warps {
        // expected-error @below {{[load_rows 1] 2 coordinates, and rows along dimension 1, in a tensor of 2 dimensions}}
        pit_gpu.load_rows %m[%i, %i] dim 1 rows (%r) into %s[0] from %r : !row, !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!box = !pit_gpu.tensor_map<8x64xbf16, swizzle = 128>

func.func @boxes_of_rows(%s: !stage, %m: !box, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader of warps {
        // expected-error @below {{[load_rows 2] boxes of}}
        pit_gpu.load_rows %m[%i, %i] dim 0 rows (%r) into %s[0] from %r : !box, !stage
      }
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>
!row = !pit_gpu.tensor_map<1x64xbf16, swizzle = 128>

func.func @rows_by_all(%s: !stage, %m: !row, %i: index, %r: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[load_rows 3] there is no pit_gpu.leader of warps around it}}
      pit_gpu.load_rows %m[%i, %i] dim 0 rows (%r) into %s[0] from %r : !row, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<16x32xf32, swizzle = 128>

func.func @add_rows_coordinates(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add_rows 1] 1 coordinates in a tensor of 2 dimensions}}
      pit_gpu.add_rows %t to %m[%i] : !tile, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<64x32xf32, swizzle = 128>

func.func @add_rows_of_others(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[add_rows 2] boxes of '!pit_gpu.tensor_map<64x32xf32, swizzle = 128>' and a '!pit_gpu.tile<64x64xf32, swizzle = 128>'; 64 rows of f16, bf16 or f32 in boxes of 16 are right}}
      pit_gpu.add_rows %t to %m[%i, %i] : !tile, !map
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xf32, swizzle = 128>
!map = !pit_gpu.tensor_map<16x32xf32, swizzle = 128>

func.func @add_rows_of_a_leader(%t: !tile, %m: !map, %i: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      pit_gpu.leader {
        // expected-error @below {{[add_rows 3] all warps add their own rows}}
        pit_gpu.add_rows %t to %m[%i, %i] : !tile, !map
      }
    }
  }
  return
}
