// RUN: pit-opt %s --convert-pit-gpu-to-nvvm -split-input-file -verify-diagnostics

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  func.func @function(%s: !pit_gpu.stage<[!tile]>) {
    // expected-error @below {{'pit_gpu.tile' op is in no kernel; a gpu.func is one}}
    %t = pit_gpu.tile %s[0] : !pit_gpu.stage<[!tile]> -> !tile
    return
  }
}

// -----

gpu.module @kernels {
  gpu.func @two_roles() kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 128 {
      }
    }
    // expected-error @below {{is the second one of a kernel; a block's warps have one role each}}
    pit_gpu.roles {
      role "all" warps 4 registers 128 {
      }
    }
    gpu.return
  }
}

// -----

!tile = !pit_gpu.tile<128x128xbf16, swizzle = 128>

gpu.module @kernels {
  // expected-error @below {{has 262272 bytes of rings and other places; shared memory of a block has at most 232448}}
  gpu.func @too_large() kernel {
    %ring = pit_gpu.ring full 1 empty 4 : !pit_gpu.ring<8, [!tile]>
    gpu.return
  }
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!ring = !pit_gpu.ring<2, [!tile]>

// Nobody can pass a ring to a kernel.
gpu.module @kernels {
  // expected-error @below {{has an argument of type '!pit_gpu.ring<2, [<64x64xbf16, swizzle = 128>]>', which no caller has}}
  gpu.func @ring_of_the_caller(%ring: !ring, %n: i32) kernel {
    pit_gpu.roles {
      role "all" warps 4 registers 128 {
        %s = pit_gpu.wait %ring[%n] : !ring -> !pit_gpu.stage<[!tile]>
        pit_gpu.release %s : !pit_gpu.stage<[!tile]>
      }
    }
    gpu.return
  }
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x64xf32>
!values = !pit_gpu.fragment<64x64xf32>

gpu.module @kernels [#nvvm.target<chip = "sm_100a", features = "+ptx87">] {
  gpu.func @product_of_wgmma(%n: i32) kernel {
    %ring = pit_gpu.ring full 128 empty 4 : !pit_gpu.ring<2, [!tile]>
    pit_gpu.roles {
      role "producers" warps 4 registers 128 {
        %s = pit_gpu.acquire %ring[%n] : !pit_gpu.ring<2, [!tile]> -> !pit_gpu.stage<[!tile]>
        pit_gpu.commit %s after writes : !pit_gpu.stage<[!tile]>
      }
      role "consumers" warps 4 registers 128 {
        %zero = arith.constant 0.0 : f32
        %begin = pit_gpu.splat %zero : f32 -> !values
        %acc = pit_gpu.accumulate %begin : !values -> !sums
        %s = pit_gpu.wait %ring[%n] : !pit_gpu.ring<2, [!tile]> -> !pit_gpu.stage<[!tile]>
        %a = pit_gpu.tile %s[0] : !pit_gpu.stage<[!tile]> -> !tile
        // expected-error @below {{has its sums in registers, for tensor cores of sm_90a; the chip is sm_100a}}
        %r = pit_gpu.mma %a, %a, %acc : !tile, !tile, !sums
        pit_gpu.mma_wait pending 0
        pit_gpu.release %s : !pit_gpu.stage<[!tile]>
      }
    }
    gpu.return
  }
}

// -----

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x64xf32, tensor_memory>
!ring = !pit_gpu.ring<2, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!ring_of_sums = !pit_gpu.ring<1, [!sums]>
!stage_of_sums = !pit_gpu.stage<[!sums]>

gpu.module @kernels [#nvvm.target<chip = "sm_90a", features = "+ptx87">] {
  gpu.func @product_into_tensor_memory(%n: i32) kernel {
    %ring = pit_gpu.ring full 128 empty 1 : !ring
    %ring_of_sums = pit_gpu.ring full 1 empty 4 : !ring_of_sums
    pit_gpu.roles {
      role "producers" warps 4 registers 128 {
        %s = pit_gpu.acquire %ring[%n] : !ring -> !stage
        pit_gpu.commit %s after writes : !stage
      }
      role "products" warps 4 registers 128 {
        %t = pit_gpu.acquire %ring_of_sums[%n] : !ring_of_sums -> !stage_of_sums
        %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !sums
        %s = pit_gpu.wait %ring[%n] : !ring -> !stage
        %a = pit_gpu.tile %s[0] : !stage -> !a
        %b = pit_gpu.tile %s[1] : !stage -> !b
        // expected-error @below {{has its sums in tensor memory, for tensor cores of sm_100a; the chip is sm_90a}}
        %r = pit_gpu.mma %a, %b, %acc : !a, !b, !sums
        pit_gpu.release %s after products : !stage
        pit_gpu.commit %t after products : !stage_of_sums
      }
      role "epilogue" warps 4 registers 128 {
        %t = pit_gpu.wait %ring_of_sums[%n] : !ring_of_sums -> !stage_of_sums
        pit_gpu.release %t : !stage_of_sums
      }
    }
    gpu.return
  }
}

// -----

!sums = !pit_gpu.accumulator<128x256xf32, tensor_memory>

gpu.module @kernels {
  // expected-error @below {{has rings of 768 columns of tensor memory; a block has at most 512}}
  gpu.func @too_many_columns() kernel {
    %one = pit_gpu.ring full 1 empty 4 : !pit_gpu.ring<2, [!sums]>
    %two = pit_gpu.ring full 1 empty 4 : !pit_gpu.ring<1, [!sums]>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{was planned with 1024 bytes of shared memory, and has 256}}
  gpu.func @other_plan() kernel attributes {pit.launch_info = #pit.launch_info<threads = 128, shared_bytes = 1024>} {
    %p = pit_gpu.shared 256 : i32
    gpu.return
  }
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>

gpu.module @kernels {
  // expected-error @below {{has no roles, which say how many threads a block has, and no known_block_size; array<i32: 128, 1, 1> is right for 128}}
  gpu.func @without_threads() kernel {
    %ring = pit_gpu.ring full 1 empty 4 : !pit_gpu.ring<2, [!tile]>
    gpu.return
  }
}
