// Sums in tensor memory: types, ops, and the protocol of their stages.
// RUN: pit-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{[accumulator_type 4] an accumulator of 64x64 in tensor memory; 128 rows, and a multiple of 16 columns, are right}}
func.func private @f(!pit_gpu.accumulator<64x64xf32, tensor_memory>)

// -----

// expected-error @below {{[accumulator_type 4] an accumulator of 128x24 in tensor memory}}
func.func private @f(!pit_gpu.accumulator<128x24xf32, tensor_memory>)

// -----

// expected-error @below {{[fragment_type 4] a fragment of 64 rows with 32 in a warp; 16, or 32 of a multiple of 128 rows, or all, are right}}
func.func private @f(!pit_gpu.fragment<64x64xf32, warp_rows = 32>)

// -----

// expected-error @below {{[fragment_type 4] a fragment of 128 rows with 8 in a warp}}
func.func private @f(!pit_gpu.fragment<128x64xf32, warp_rows = 8>)

// -----

// expected-error @below {{[ring_type 2] a stage with a '!pit_gpu.accumulator<64x64xf32>'; matrices of one kind alone, or accumulators in tensor memory alone, are right}}
func.func private @f(!pit_gpu.ring<2, [!pit_gpu.accumulator<64x64xf32>]>)

// -----

// expected-error @below {{[stage_type 1] a stage with a '!pit_gpu.accumulator<128x64xf32, tensor_memory>'}}
func.func private @f(!pit_gpu.stage<[!pit_gpu.tile<8x64xbf16, swizzle = 128>, !pit_gpu.accumulator<128x64xf32, tensor_memory>]>)

// -----

// expected-error @below {{[ring_type 2] 3 stages of 256 columns of tensor memory; 512 columns together are the most}}
func.func private @f(!pit_gpu.ring<3, [!pit_gpu.accumulator<128x256xf32, tensor_memory>]>)

// -----

func.func @column() {
  // expected-error @below {{[ring 2] stages at 512, barriers at 0; a multiple of 1 below 512 and one of 8 below 16777216, or neither is right}}
  %ring = pit_gpu.ring full 1 empty 4 at 512 barriers 0 : !pit_gpu.ring<1, [!pit_gpu.accumulator<128x64xf32, tensor_memory>]>
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>

func.func @commit_kind(%ring: !pit_gpu.ring<2, [!sums]>, %n: i32) {
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %t = pit_gpu.acquire %ring[%n] : !pit_gpu.ring<2, [!sums]> -> !pit_gpu.stage<[!sums]>
      // expected-error @below {{[commit 3] after writes a stage in tensor memory; products fill tensor memory, and nothing else does}}
      pit_gpu.commit %t after writes : !pit_gpu.stage<[!sums]>
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>

func.func @commit_shared(%ring: !pit_gpu.ring<2, [!a]>, %n: i32) {
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !pit_gpu.ring<2, [!a]> -> !pit_gpu.stage<[!a]>
      // expected-error @below {{[commit 3] after products a stage in shared memory}}
      pit_gpu.commit %s after products : !pit_gpu.stage<[!a]>
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>

func.func @release_condition(%ring: !pit_gpu.ring<2, [!a]>, %n: i32, %c: i1) {
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !pit_gpu.ring<2, [!a]> -> !pit_gpu.stage<[!a]>
      // expected-error @below {{[release 3] after products a stage in memory, on a condition or by many; products read stages in shared memory, and the role gives these back once, in its block}}
      pit_gpu.release %s after products if %c : !pit_gpu.stage<[!a]>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>

func.func @load_into_sums(%ring: !pit_gpu.ring<2, [!sums]>, %map: !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, %n: i32, %i: index) {
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %t = pit_gpu.acquire %ring[%n] : !pit_gpu.ring<2, [!sums]> -> !pit_gpu.stage<[!sums]>
      // expected-error @below {{[load 2] tile 0 is a '!pit_gpu.accumulator<128x64xf32, tensor_memory>'; copies go to matrices in lines}}
      pit_gpu.load %map[%i, %i] into %t[0] : !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>, !pit_gpu.stage<[!sums]>
      pit_gpu.commit %t after products : !pit_gpu.stage<[!sums]>
    }
  }
  return
}

// -----

!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!narrow = !pit_gpu.fragment<128x64xbf16>

func.func @mma_fragment(%a: !narrow, %b: !b, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 5] sums in tensor memory with a fragment; both factors of sums in tensor memory lie in shared memory, and they alone have a condition}}
      %r = pit_gpu.mma %a, %b, %acc : !narrow, !b, !sums
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>

func.func @mma_condition(%a: !a, %b: !a, %acc: !sums, %c: i1) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 5] sums in registers with a condition}}
      %r = pit_gpu.mma %a, %b, %acc adds if %c : !a, !a, !sums
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32>
!wide = !pit_gpu.fragment<128x64xbf16, warp_rows = 32>

func.func @mma_warp_rows(%p: !wide, %b: !a, %acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma 4] a fragment of 'bf16' with 32 rows in a warp; one of 8 or 16 bits with 16, as it is, is right}}
      %r = pit_gpu.mma %p, %b, %acc : !wide, !a, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!values = !pit_gpu.fragment<128x64xf32>

func.func @mma_wait(%acc: !sums) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[mma_wait 4] sums in tensor memory; a role waits for their stage}}
      %v = pit_gpu.mma_wait pending 0 of %acc : !sums -> !values
    }
  }
  return
}

// -----

func.func @read_registers(%acc: !pit_gpu.accumulator<128x64xf32>, %c: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[read 1] sums in registers; a mma_wait gives them as a fragment}}
      %v = pit_gpu.read %acc cols %c : !pit_gpu.accumulator<128x64xf32> -> !pit_gpu.fragment<128x64xf32, warp_rows = 32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>

func.func @read_layout(%acc: !sums, %c: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[read 2] '!pit_gpu.fragment<128x64xf32>' of '!pit_gpu.accumulator<128x64xf32, tensor_memory>'; as many rows, 32 of them in a warp, f32 and 8 to 64 columns are right}}
      %v = pit_gpu.read %acc cols %c : !sums -> !pit_gpu.fragment<128x64xf32>
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>

func.func @read_column(%acc: !sums, %c: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[read 2] '!pit_gpu.fragment<128x1xf32, warp_rows = 32>' of}}
      %v = pit_gpu.read %acc cols %c : !sums -> !pit_gpu.fragment<128x1xf32, warp_rows = 32>
    }
  }
  return
}

// -----

func.func @accumulate(%f: !pit_gpu.fragment<128x64xf32>) {
  // expected-error @below {{[accumulate 1] '!pit_gpu.fragment<128x64xf32>' as '!pit_gpu.accumulator<128x64xf32, tensor_memory>'}}
  %acc = pit_gpu.accumulate %f : !pit_gpu.fragment<128x64xf32> -> !pit_gpu.accumulator<128x64xf32, tensor_memory>
  return
}

// -----

!wide = !pit_gpu.fragment<128x64xf32, warp_rows = 32>

func.func @reduce_layout(%f: !wide) {
  // expected-error @below {{[reduce_rows 1] '!pit_gpu.fragment<128x64xf32, warp_rows = 32>' to '!pit_gpu.fragment<128x1xf32>'}}
  %m = pit_gpu.reduce_rows %f : !wide -> !pit_gpu.fragment<128x1xf32> {
  ^bb0(%x: f32, %y: f32):
    pit_gpu.yield %x : f32
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>

// Nothing waits for the product, so the role may not give the stage back itself.
func.func @released_too_early(%ring: !ring, %acc: !sums, %n: i32) {
  // expected-error @below {{[protocol 5] role "products" releases a stage while a product into tensor memory may read it; release after products, behind it, is right}}
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %b = pit_gpu.tile %s[1] : !stage -> !b
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.release %s : !stage
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>

func.func @product_behind_release(%ring: !ring, %acc: !sums, %n: i32) {
  // expected-error @below {{[protocol 5] role "products" releases a stage while a product into tensor memory may read it}}
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %b = pit_gpu.tile %s[1] : !stage -> !b
      pit_gpu.release %s after products : !stage
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!ring = !pit_gpu.ring<2, [!a, !a]>
!stage = !pit_gpu.stage<[!a, !a]>

func.func @wgmma_after_products(%ring: !ring, %acc: !sums, %n: i32) {
  // expected-error @below {{[protocol 5] role "products" releases a stage after products into tensor memory, and wgmma reads it; a mma_wait and release alone are right}}
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %b = pit_gpu.tile %s[1] : !stage -> !a
      // expected-note @below {{the product}}
      %r = pit_gpu.mma %a, %b, %acc : !a, !a, !sums
      pit_gpu.mma_wait pending 0
      pit_gpu.release %s after products : !stage
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!sums]>
!stage = !pit_gpu.stage<[!sums]>
!values = !pit_gpu.fragment<128x64xf32, warp_rows = 32>

func.func @reads_what_it_fills(%ring: !ring, %n: i32, %c: i32) {
  // expected-error @below {{[protocol 7] role "products" reads sums of a stage that it fills}}
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %t = pit_gpu.acquire %ring[%n] : !ring -> !stage
      %acc = pit_gpu.tile %t[0] : !stage -> !sums
      // expected-note @below {{the use}}
      %v = pit_gpu.read %acc cols %c : !sums -> !values
      pit_gpu.commit %t after products : !stage
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!sums]>
!stage = !pit_gpu.stage<[!sums]>

func.func @fills_what_it_reads(%ring: !ring, %a: !a, %b: !b, %n: i32) {
  // expected-error @below {{[protocol 7] role "epilogue" adds products to sums that it reads}}
  pit_gpu.roles {
    role "epilogue" warps 4 registers 128 {
      %t = pit_gpu.wait %ring[%n] : !ring -> !stage
      %acc = pit_gpu.tile %t[0] : !stage -> !sums
      // expected-note @below {{the use}}
      %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.release %t : !stage
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!sums]>
!stage = !pit_gpu.stage<[!sums]>

// The second product's sums are those of the first one.
func.func @product_behind_commit(%ring: !ring, %a: !a, %b: !b, %n: i32) {
  // expected-error @below {{[protocol 2] role "products" uses sums of a stage after it has been given on}}
  pit_gpu.roles {
    role "products" warps 4 registers 128 {
      %t = pit_gpu.acquire %ring[%n] : !ring -> !stage
      %acc = pit_gpu.tile %t[0] : !stage -> !sums
      %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.commit %t after products : !stage
      // expected-note @below {{the use}}
      %q = pit_gpu.mma %a, %b, %r : !a, !b, !sums
    }
  }
  return
}

// -----

!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!sums]>
!stage = !pit_gpu.stage<[!sums]>
!values = !pit_gpu.fragment<128x64xf32, warp_rows = 32>

func.func @read_behind_release(%ring: !ring, %n: i32, %c: i32) {
  // expected-error @below {{[protocol 2] role "epilogue" uses sums of a stage after it has been given on}}
  pit_gpu.roles {
    role "epilogue" warps 4 registers 128 {
      %t = pit_gpu.wait %ring[%n] : !ring -> !stage
      %acc = pit_gpu.tile %t[0] : !stage -> !sums
      pit_gpu.release %t : !stage
      // expected-note @below {{the use}}
      %v = pit_gpu.read %acc cols %c : !sums -> !values
    }
  }
  return
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>

// Tensor cores arrive once for a role, its warps once each.
func.func @arrivals(%acc: !sums, %n: i32) {
  // expected-note @below {{the ring}}
  %ring = pit_gpu.ring full 128 empty 4 : !ring
  // expected-error @below {{[protocol 4] a ring is full after 128 and empty after 4 arrivals, and its roles arrive 128 and 1 times}}
  pit_gpu.roles {
    role "producers" warps 4 registers 128 {
      %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
      pit_gpu.commit %s after writes : !stage
    }
    role "products" warps 4 registers 128 {
      %s = pit_gpu.wait %ring[%n] : !ring -> !stage
      %a = pit_gpu.tile %s[0] : !stage -> !a
      %b = pit_gpu.tile %s[1] : !stage -> !b
      %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
      pit_gpu.release %s after products : !stage
    }
  }
  return
}
