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
  // expected-error @below {{has rings of 262272 bytes; shared memory of a block has at most 232448}}
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
