// RUN: pit-opt %s -split-input-file -verify-diagnostics

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_bytes(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 1] 2 bytes from a '!llvm.ptr<1>'; 4, 8 or 16 from an !llvm.ptr<1> are right}}
      pit_gpu.copy %p into %s[0] at [%i, %i] bytes 2 : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_from(%s: !stage, %p: !llvm.ptr<3>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 1] 16 bytes from a '!llvm.ptr<3>'}}
      pit_gpu.copy %p into %s[0] at [%i, %i] : !llvm.ptr<3>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_number(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] there is no tile 1 in a stage of 1}}
      pit_gpu.copy %p into %s[1] at [%i, %i] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_plus(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 3] further rows and columns are [4, 0]; multiples of 8 and of 64, a line's elements, are right}}
      pit_gpu.copy %p into %s[0] at [%i, %i] plus [4, 0] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

!tile = !pit_gpu.tile<64x64xbf16, swizzle = 128>
!stage = !pit_gpu.stage<[!tile]>

func.func @copy_without_a_number(%s: !stage, %p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] the tile of a stage has a number; it copies into a '!pit_gpu.stage<}}
      pit_gpu.copy %p into %s at [%i, %i] : !llvm.ptr<1>, !stage
    }
  }
  return
}

// -----

func.func @copy_with_a_number(%p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 2] a number is that of a stage's tile; it copies into a 'i32'}}
      pit_gpu.copy %p into %i[0] : !llvm.ptr<1>, i32
    }
  }
  return
}

// -----

func.func @copy_without_a_place(%t: !pit_gpu.tile<64x64xbf16, swizzle = 128>, %p: !llvm.ptr<1>) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 4] a piece of a tile has a row and a column; it copies into a '!pit_gpu.tile<}}
      pit_gpu.copy %p into %t : !llvm.ptr<1>, !pit_gpu.tile<64x64xbf16, swizzle = 128>
    }
  }
  return
}

// -----

func.func @copy_to_an_address(%p: !llvm.ptr<1>, %i: i32) {
  pit_gpu.roles {
    role "all" warps 4 registers 128 {
      // expected-error @below {{[copy 4] an address has no rows and columns; it copies into a 'i32'}}
      pit_gpu.copy %p into %i at [%i, %i] : !llvm.ptr<1>, i32
    }
  }
  return
}

// -----

func.func @copy_twice_bounded(%p: !llvm.ptr<1>, %i: i32, %is: i1) {
  // expected-error @below {{[copy 5] it has a condition and a limit; a limit of 0 bytes is right where nothing is read}}
  pit_gpu.copy %p if %is limit %i into %i : !llvm.ptr<1>, i32
  return
}

// -----

func.func @copy_wait() {
  // expected-error @below {{[copy_wait 1] 65 groups pending; 0 to 64 is right}}
  pit_gpu.copy_wait pending 65
  return
}

// -----

func.func @local_store_elements(%f: !pit_gpu.fragment<64x64xf16>, %t: !pit_gpu.tile<64x64xbf16, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x64xf16>' into '!pit_gpu.tile<64x64xbf16, swizzle = 128>'; the same elements}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x64xf16>, !pit_gpu.tile<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @local_store_of_a_column(%f: !pit_gpu.fragment<64x1xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x1xf16>' into}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x1xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_warp_rows(%f: !pit_gpu.fragment<128x64xf32, warp_rows = 32>, %t: !pit_gpu.tile<128x64xf32, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<128x64xf32, warp_rows = 32>' into}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<128x64xf32, warp_rows = 32>, !pit_gpu.tile<128x64xf32, swizzle = 128>
  return
}

// -----

func.func @local_store_words(%f: !pit_gpu.fragment<64x32xf32>, %t: !pit_gpu.tile<32x64xf32, swizzle = 128>) {
  // expected-error @below {{[local_store 1] '!pit_gpu.fragment<64x32xf32>' transposed into}}
  pit_gpu.local_store %f transposed into %t : !pit_gpu.fragment<64x32xf32>, !pit_gpu.tile<32x64xf32, swizzle = 128>
  return
}

// -----

func.func @local_store_rows(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<32x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 0 on, of 32x64; the same rows}}
  pit_gpu.local_store %f into %t : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<32x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_cols(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 48 on, of 64x64}}
  pit_gpu.local_store %f into %t cols 48 : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_store_from(%f: !pit_gpu.fragment<64x32xf16>, %t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_store 2] 64x32 elements from column 8 on, of 64x64; the same rows, and columns from a multiple of 16}}
  pit_gpu.local_store %f into %t cols 8 : !pit_gpu.fragment<64x32xf16>, !pit_gpu.tile<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @local_load(%t: !pit_gpu.tile<64x32xf32, swizzle = 128>) {
  // expected-error @below {{[local_load 1] '!pit_gpu.tile<64x32xf32, swizzle = 128>' as '!pit_gpu.fragment<64x32xf32>'; the same extents and elements of 16 bits}}
  %f = pit_gpu.local_load %t : !pit_gpu.tile<64x32xf32, swizzle = 128> -> !pit_gpu.fragment<64x32xf32>
  return
}

// -----

func.func @local_load_cols(%t: !pit_gpu.tile<64x64xf16, swizzle = 128>) {
  // expected-error @below {{[local_load 1] '!pit_gpu.tile<64x64xf16, swizzle = 128>' as '!pit_gpu.fragment<64x32xf16>'}}
  %f = pit_gpu.local_load %t : !pit_gpu.tile<64x64xf16, swizzle = 128> -> !pit_gpu.fragment<64x32xf16>
  return
}
