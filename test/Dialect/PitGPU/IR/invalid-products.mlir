// RUN: pit-opt %s -split-input-file -verify-diagnostics

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

func.func @mma_rows(%a: !tile, %b: !tile, %acc: !pit_gpu.accumulator<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x64 times 64x64 gives no 128x64}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !tile, !pit_gpu.accumulator<128x64xf32>
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_depth(%a: !tile, %b: !pit_gpu.tile<128x64xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x64 times 128x64 gives no 64x64}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !pit_gpu.tile<128x64xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_transposed_depth(%a: !pit_gpu.tile<128x64xbf16, swizzle = 128>, %b: !pit_gpu.tile<64x128xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 1] 64x128 times 64x128 gives no 64x64}}
      %r = pit_gpu.mma %a transpose, %b, %acc : !pit_gpu.tile<128x64xbf16, swizzle = 128>, !pit_gpu.tile<64x128xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_elements(%a: !tile, %b: !pit_gpu.tile<64x64xf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'bf16' times 'f16'; one type is right}}
      %r = pit_gpu.mma %a, %b, %acc : !tile, !pit_gpu.tile<64x64xf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_tf32(%a: !pit_gpu.tile<64x32xf32, swizzle = 128>, %b: !pit_gpu.tile<32x64xf32, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'f32' times 'f32'; a of m x k and b of n x k, and one type are right}}
      %r = pit_gpu.mma %a, %b, %acc : !pit_gpu.tile<64x32xf32, swizzle = 128>, !pit_gpu.tile<32x64xf32, swizzle = 128>, !sums
    }
  }
  return
}

// -----

func.func @mma_f8(%a: !pit_gpu.tile<128x128xf8E5M2, swizzle = 128>, %b: !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>, %acc: !pit_gpu.accumulator<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 2] 'f8E5M2' times 'f8E4M3FN'}}
      %r = pit_gpu.mma %a transpose, %b transpose, %acc : !pit_gpu.tile<128x128xf8E5M2, swizzle = 128>, !pit_gpu.tile<64x128xf8E4M3FN, swizzle = 128>, !pit_gpu.accumulator<128x64xf32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_step(%a: !pit_gpu.tile<64x8xbf16, swizzle = 128>, %b: !pit_gpu.tile<8x64xbf16, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 3] k of 8 elements of 'bf16'; a multiple of 32 bytes is right}}
      %r = pit_gpu.mma %a, %b, %acc : !pit_gpu.tile<64x8xbf16, swizzle = 128>, !pit_gpu.tile<8x64xbf16, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @mma_fragment(%a: !values, %b: !pit_gpu.tile<64x64xf32, swizzle = 128>, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 4] a fragment of 'f32' with 16 rows in a warp; one of 8 or 16 bits with 16, as it is, is right}}
      %r = pit_gpu.mma %a, %b transpose, %acc : !values, !pit_gpu.tile<64x64xf32, swizzle = 128>, !sums
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @mma_transposed_fragment(%a: !narrow, %b: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 4] a fragment of 'bf16' with 16 rows in a warp, transposed}}
      %r = pit_gpu.mma %a transpose, %b, %acc : !narrow, !tile, !sums
    }
  }
  return
}

// -----

func.func @pending() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 1] 8 products pending; 0 to 7 is right}}
      pit_gpu.mma_wait pending 8
    }
  }
  return
}

// -----

func.func @negative_pending() {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 1] -1 products pending}}
      pit_gpu.mma_wait pending -1
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @other_extents(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2] a fragment of f32 with the same extents for each accumulator, and 16 rows in a warp, is right}}
      %f = pit_gpu.mma_wait pending 0 of %acc : !sums -> !pit_gpu.fragment<64x32xf32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @rounded(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2]}}
      %f = pit_gpu.mma_wait pending 0 of %acc : !sums -> !narrow
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>

func.func @no_fragment(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 2]}}
      "pit_gpu.mma_wait"(%acc) <{pending = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}> : (!sums) -> ()
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @still_pending(%t: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
      // expected-error @below {{[mma_wait 3] 1 products may be pending, and 0 were started after the one that gives the sums}}
      %f = pit_gpu.mma_wait pending 1 of %r : !sums -> !values
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

func.func @pending_of_a_hand_over(%t: !tile, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      %x, %y = pit_gpu.hand_over -> !sums, !sums {
        %r = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
        %q = pit_gpu.mma %t, %t, %acc : !tile, !tile, !sums
        pit_gpu.yield %r, %q : !sums, !sums
      }
      %f = pit_gpu.mma_wait pending 1 of %x : !sums -> !values
      // expected-error @below {{[mma_wait 3] 1 products may be pending, and 0 were}}
      %g = pit_gpu.mma_wait pending 1 of %y : !sums -> !values
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @accumulate(%f: !values) {
  // expected-error @below {{[accumulate 1] '!pit_gpu.fragment<64x64xf32>' as '!pit_gpu.accumulator<64x128xf32>'; the same extents, of f32 in registers, with 16 rows in a warp are right}}
  %acc = pit_gpu.accumulate %f : !values -> !pit_gpu.accumulator<64x128xf32>
  return
}

// -----

!sums = !pit_gpu.accumulator<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @accumulate_rounded(%f: !narrow) {
  // expected-error @below {{[accumulate 1]}}
  %acc = pit_gpu.accumulate %f : !narrow -> !sums
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @splat(%x: f16) {
  // expected-error @below {{[splat 1] 'f16' as element of '!pit_gpu.fragment<64x64xf32>'}}
  %f = pit_gpu.splat %x : f16 -> !values
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_rows(%x: !pit_gpu.fragment<128x64xf32>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 1] an input '!pit_gpu.fragment<128x64xf32>' of '!pit_gpu.fragment<64x64xf32>'; the same rows, as many in a warp, or one, as many columns or one, and columns of a spread result that are spread, are right}}
      %f = pit_gpu.map (%x : !pit_gpu.fragment<128x64xf32>) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @map_cols(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 1] an input}}
      %f = pit_gpu.map (%x : !values) -> !column {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_arguments(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region has to take two i32 and an element of each of 1 inputs, and to yield one 'f32'}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32):
        %e = arith.constant 0.0 : f32
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_yields(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!narrow = !pit_gpu.fragment<64x64xbf16>

func.func @map_other_yield(%x: !values) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 2] the region}}
      %f = pit_gpu.map (%x : !values) -> !narrow {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @map_stores(%x: !values, %m: memref<?x?xf32>, %z: index) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[map 3] there is a pit_gpu.store in the region, which computes single elements}}
      %f = pit_gpu.map (%x : !values) -> !values {
      ^bb0(%i: i32, %j: i32, %e: f32):
        pit_gpu.store %x to %m[%z, %z] : !values, memref<?x?xf32>
        pit_gpu.yield %e : f32
      }
    }
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @reduce_columns(%x: !values) {
  // expected-error @below {{[reduce_rows 1] '!pit_gpu.fragment<64x64xf32>' to '!pit_gpu.fragment<64x64xf32>'; one column, and the same rows and elements, neither spread nor of 8 bits, are right}}
  %r = pit_gpu.reduce_rows %x : !values -> !values {
  ^bb0(%a: f32, %b: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>

func.func @reduce_elements(%x: !values) {
  // expected-error @below {{[reduce_rows 1]}}
  %r = pit_gpu.reduce_rows %x : !values -> !pit_gpu.fragment<64x1xf16> {
  ^bb0(%a: f32, %b: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @reduce_one(%x: !values) {
  // expected-error @below {{[reduce_rows 2] the region has to take two 'f32' and to yield one}}
  %r = pit_gpu.reduce_rows %x : !values -> !column {
  ^bb0(%a: f32):
    pit_gpu.yield %a : f32
  }
  return
}

// -----

!values = !pit_gpu.fragment<64x64xf32>
!column = !pit_gpu.fragment<64x1xf32>

func.func @reduce_splats(%x: !values) {
  // expected-error @below {{[reduce_rows 3] there is a pit_gpu.splat in the region}}
  %r = pit_gpu.reduce_rows %x : !values -> !column {
  ^bb0(%a: f32, %b: f32):
    %s = pit_gpu.splat %a : f32 -> !values
    pit_gpu.yield %b : f32
  }
  return
}

// -----

func.func @mma_sync_elements(%w: i32, %s: f32) {
  // expected-error @below {{[mma_sync 1] the elements are 'f64'; f16, bf16, f32 or i8 are right}}
  %r:4 = pit_gpu.mma_sync [%w, %w, %w, %w] * [%w, %w] + [%s, %s, %s, %s] : f64
  return
}

// -----

func.func @mma_sync_words(%w: i32, %s: f32) {
  // expected-error @below {{[mma_sync 2] 6 words of a, 2 of b and 4 sums; 4 m, 2 n and 4 m n are right for some m and n}}
  %r:4 = pit_gpu.mma_sync [%w, %w, %w, %w, %w, %w] * [%w, %w] + [%s, %s, %s, %s] : bf16
  return
}

// -----

func.func @mma_sync_sums(%w: i32, %s: f32) {
  // expected-error @below {{[mma_sync 2] 4 words of a, 4 of b and 4 sums}}
  %r:4 = pit_gpu.mma_sync [%w, %w, %w, %w] * [%w, %w, %w, %w] + [%s, %s, %s, %s] : bf16
  return
}

// -----

func.func @mma_sync_type_of_sums(%w: i32, %s: f32) {
  // expected-error @below {{[mma_sync 3] products of 'i8' have sums of i32, and as many results}}
  %r:4 = "pit_gpu.mma_sync"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s)
    <{element = i8, operandSegmentSizes = array<i32: 4, 2, 4>}>
    : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @mma_sync_results(%w: i32, %s: f32) {
  // expected-error @below {{[mma_sync 3] products of 'f16' have sums of f32, and as many results}}
  %r = "pit_gpu.mma_sync"(%w, %w, %w, %w, %w, %w, %s, %s, %s, %s)
    <{element = f16, operandSegmentSizes = array<i32: 4, 2, 4>}>
    : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> f32
  return
}

// -----

!cols = !pit_gpu.fragment<1x64xf32>
!spread = !pit_gpu.fragment<1x64xf32, spread>

func.func @map_to_spread(%x: !cols) {
  // expected-error @below {{[map 1] an input '!pit_gpu.fragment<1x64xf32>' of '!pit_gpu.fragment<1x64xf32, spread>'}}
  %f = pit_gpu.map (%x : !cols) -> !spread {
  ^bb0(%i: i32, %j: i32, %e: f32):
    pit_gpu.yield %e : f32
  }
  return
}

// -----

!small = !pit_gpu.fragment<64x64xf8E4M3FN>
!values = !pit_gpu.fragment<64x64xf32>

func.func @map_small(%x: !small) {
  // expected-error @below {{[map 4] an input '!pit_gpu.fragment<64x64xf8E4M3FN>'; elements of more than 8 bits, or integers, are right}}
  %f = pit_gpu.map (%x : !small) -> !values {
  ^bb0(%i: i32, %j: i32, %e: f8E4M3FN):
    %y = arith.extf %e : f8E4M3FN to f32
    pit_gpu.yield %y : f32
  }
  return
}

// -----

!small = !pit_gpu.fragment<64x64xf8E4M3FN>
!values = !pit_gpu.fragment<64x64xf32>

func.func @map_to_small(%x: !values) {
  // expected-error @below {{[map 4] gives '!pit_gpu.fragment<64x64xf8E4M3FN>'; elements of more than 8 bits}}
  %f = pit_gpu.map (%x : !values) -> !small {
  ^bb0(%i: i32, %j: i32, %e: f32):
    %y = arith.truncf %e : f32 to f8E4M3FN
    pit_gpu.yield %y : f8E4M3FN
  }
  return
}

// -----

!spread = !pit_gpu.fragment<1x64xf32, spread>
!one = !pit_gpu.fragment<1x1xf32>

func.func @reduce_spread(%x: !spread) {
  // expected-error @below {{[reduce_rows 1] '!pit_gpu.fragment<1x64xf32, spread>' to '!pit_gpu.fragment<1x1xf32>'; one column, and the same rows and elements, neither spread nor of 8 bits, are right}}
  %r = pit_gpu.reduce_rows %x : !spread -> !one {
  ^bb0(%a: f32, %b: f32):
    pit_gpu.yield %a : f32
  }
  return
}
