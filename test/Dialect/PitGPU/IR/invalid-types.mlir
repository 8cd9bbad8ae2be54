// RUN: pit-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{[tile_type 1] a tile of 12x64}}
func.func private @f(!pit_gpu.tile<12x64xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tile_type 1] a tile of 8x96; rows are a multiple of 8, columns a multiple or a part of a line's 64}}
func.func private @f(!pit_gpu.tile<8x96xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tile_type 1] a tile of 0x64}}
func.func private @f(!pit_gpu.tile<0x64xbf16, swizzle = 128>)

// -----

// No number of bytes overflows.
// expected-error @below {{[tile_type 1] a tile of 72057594037927936x64}}
func.func private @f(!pit_gpu.tile<72057594037927936x64xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tile_type 2] swizzle is 0 bytes; 32, 64 or 128 is right}}
func.func private @f(!pit_gpu.tile<8x64xbf16, swizzle = 0>)

// -----

// expected-error @below {{[tile_type 3] elements of a tile are 'f64'}}
func.func private @f(!pit_gpu.tile<8x16xf64, swizzle = 128>)

// -----

// wgmma has two kinds of 8 bits.
// expected-error @below {{[tile_type 3] elements of a tile are 'f8E4M3FNUZ'; f16, bf16, f32, f8E4M3FN or f8E5M2 is right}}
func.func private @f(!pit_gpu.tile<8x128xf8E4M3FNUZ, swizzle = 128>)

// -----

// expected-error @below {{[tile_type 3] elements of a tile are 'vector<2xf16>'}}
func.func private @f(!pit_gpu.tile<8x128xvector<2xf16>, swizzle = 128>)

// -----

// expected-error @below {{[tile_type 4] blocks of 1024 bytes with a pitch of 512}}
func.func private @f(!pit_gpu.tile<8x128xbf16, swizzle = 128, pitch = 512>)

// -----

// A pattern of eight lines that does not begin where the pattern does.
// expected-error @below {{[tile_type 4] blocks of 1536 bytes with a pitch of 1600}}
func.func private @f(!pit_gpu.tile<24x64xbf16, swizzle = 64, pitch = 1600>)

// -----

// expected-error @below {{[tile_type 4] blocks of 1024 bytes with a pitch of 1073741824}}
func.func private @f(!pit_gpu.tile<8x128xbf16, swizzle = 128, pitch = 1073741824>)

// -----

// expected-error @below {{a tile has two extents, not 3}}
func.func private @f(!pit_gpu.tile<8x8x128xbf16, swizzle = 128>)

// -----

// expected-error @below {{[ring_type 1] a ring of 33 stages; 1 to 32 is right}}
func.func private @f(!pit_gpu.ring<33, [!pit_gpu.tile<8x64xbf16, swizzle = 128>]>)

// -----

// expected-error @below {{[ring_type 1] a ring of 0 stages}}
func.func private @f(!pit_gpu.ring<0, [!pit_gpu.tile<8x64xbf16, swizzle = 128>]>)

// -----

// expected-error @below {{expected '<'}}
func.func private @f(!pit_gpu.stage<[64]>)

// -----

// expected-error @below {{[tensor_map_type 1] a box of 6 dimensions; 2 to 5 is right}}
func.func private @f(!pit_gpu.tensor_map<1x1x1x1x8x64xbf16, swizzle = 128>)

// -----

// A tile has eight rows at least.
// expected-error @below {{[tensor_map_type 1] a box of 1 dimensions; 2 to 5 is right}}
func.func private @f(!pit_gpu.tensor_map<64xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tensor_map_type 1] a box with an extent of 257; 1 to 256 is right}}
func.func private @f(!pit_gpu.tensor_map<257x64xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tensor_map_type 2] swizzle is 16 bytes}}
func.func private @f(!pit_gpu.tensor_map<8x8xbf16, swizzle = 16>)

// -----

// expected-error @below {{[tensor_map_type 2] a box of 32 elements of 'bf16' is not as wide as its swizzle of 128 bytes}}
func.func private @f(!pit_gpu.tensor_map<8x32xbf16, swizzle = 128>)

// -----

// expected-error @below {{[tensor_map_type 3] elements of a tensor are 'i32'}}
func.func private @f(!pit_gpu.tensor_map<8x32xi32, swizzle = 128>)

// -----

// expected-error @below {{[tensor_map_type 3] elements of a tensor are 'index'}}
func.func private @f(!pit_gpu.tensor_map<8x32xindex, swizzle = 128>)

// -----

// expected-error @below {{[accumulator_type 1] an accumulator of 32x64}}
func.func private @f(!pit_gpu.accumulator<32x64xf32>)

// -----

// expected-error @below {{[accumulator_type 1] an accumulator of 64x264}}
func.func private @f(!pit_gpu.accumulator<64x264xf32>)

// -----

// expected-error @below {{[accumulator_type 1] an accumulator of 64x1}}
func.func private @f(!pit_gpu.accumulator<64x1xf32>)

// -----

// expected-error @below {{[accumulator_type 2] an accumulator of 'bf16'; f32 is right}}
func.func private @f(!pit_gpu.accumulator<64x64xbf16>)

// -----

// expected-error @below {{[accumulator_type 3] an accumulator of 128x200 takes more than 192 registers of a thread}}
func.func private @f(!pit_gpu.accumulator<128x200xf32>)

// -----

// The product of the extents does not fit 64 bits.
// expected-error @below {{[accumulator_type 3] an accumulator of 4611686018427387904x8}}
func.func private @f(!pit_gpu.accumulator<4611686018427387904x8xf32>)

// -----

// expected-error @below {{two extents are right, not 1}}
func.func private @f(!pit_gpu.accumulator<64xf32>)

// -----

// expected-error @below {{[fragment_type 1] a fragment of 64x4}}
func.func private @f(!pit_gpu.fragment<64x4xf32>)

// -----

// A warp alone has 16 rows, or several parts of them.
// expected-error @below {{[fragment_type 1] a fragment of 24x64; rows are 1, those of a warp or a multiple of 64, and columns one of 8 up to 256, or 1}}
func.func private @f(!pit_gpu.fragment<24x64xf32, warp_rows = 24>)

// -----

// expected-error @below {{[fragment_type 2] a fragment of 64x8 elements of 'vector<2xf32>'; integers, index and floats, or floats of 8 bits in a multiple of 64 rows and of 32 columns, are right}}
func.func private @f(!pit_gpu.fragment<64x8xvector<2xf32>>)

// -----

// expected-error @below {{[fragment_type 2] a fragment of 1x64 elements of 'f8E5M2'}}
func.func private @f(!pit_gpu.fragment<1x64xf8E5M2>)

// -----

// expected-error @below {{[fragment_type 2] a fragment of 64x16 elements of 'f8E4M3FN'}}
func.func private @f(!pit_gpu.fragment<64x16xf8E4M3FN>)

// -----

// expected-error @below {{[fragment_type 3] a fragment of 256x256 gives a thread more than 256 elements}}
func.func private @f(!pit_gpu.fragment<256x256xf16>)

// -----

// expected-error @below {{[fragment_type 3] a fragment of 4611686018427387904x1}}
func.func private @f(!pit_gpu.fragment<4611686018427387904x1xf32>)

// -----

// expected-error @below {{[ring_type 3] a ring of the block of 1 stages in shared memory; 2 or more of matrices are right}}
func.func private @f(!pit_gpu.ring<1, [!pit_gpu.tile<8x64xbf16, swizzle = 128>], block>)

// -----

// expected-error @below {{[ring_type 3] a ring of the block of 2 stages in tensor memory}}
func.func private @f(!pit_gpu.ring<2, [!pit_gpu.accumulator<128x64xf32, tensor_memory>], block>)

// -----

// expected-error @below {{[stage_type 2] a stage of the block with a '!pit_gpu.accumulator<128x64xf32, tensor_memory>'; threads fill shared memory}}
func.func private @f(!pit_gpu.stage<[!pit_gpu.accumulator<128x64xf32, tensor_memory>], block>)

// -----

// Lines would not start where their swizzle does.
// expected-error @below {{[stage_type 1] a stage with a '!pit_gpu.tile<8x64xbf16, swizzle = 128>'; matrices of one kind alone}}
func.func private @f(!pit_gpu.stage<[!pit_gpu.row_tile<3x32xf16>, !pit_gpu.tile<8x64xbf16, swizzle = 128>]>)

// -----

// expected-error @below {{[row_tile_type 1] a tile of 0x32 elements of 'f16'; rows of a multiple of 16 bytes, and extents of at most 65536, are right}}
func.func private @f(!pit_gpu.row_tile<0x32xf16>)

// -----

// expected-error @below {{[row_tile_type 1] a tile of 8x12 elements of 'f16'}}
func.func private @f(!pit_gpu.row_tile<8x12xf16>)

// -----

// expected-error @below {{[row_tile_type 1] a tile of 8x65552}}
func.func private @f(!pit_gpu.row_tile<8x65552xf16>)

// -----

// expected-error @below {{[row_tile_type 2] elements of a tile are 'vector<2xf16>'; integers or floats of at most 8 bytes are right}}
func.func private @f(!pit_gpu.row_tile<8x32xvector<2xf16>>)

// -----

// expected-error @below {{[row_tile_type 2] elements of a tile are 'i128'}}
func.func private @f(!pit_gpu.row_tile<8x32xi128>)

// -----

// expected-error @below {{[row_tile_type 3] chunks are shifted by 3; 1, 2, 4 or 8 is right}}
func.func private @f(!pit_gpu.row_tile<8x32xf16, shift = 3>)

// -----

// expected-error @below {{[fragment_type 5] a fragment of 64x64 elements of 'f32' is spread; one row of 32 columns or more, of at most 32 bits, is right}}
func.func private @f(!pit_gpu.fragment<64x64xf32, spread>)

// -----

// expected-error @below {{[fragment_type 5] a fragment of 1x16 elements of 'f32' is spread}}
func.func private @f(!pit_gpu.fragment<1x16xf32, spread>)

// -----

// expected-error @below {{[fragment_type 5] a fragment of 1x64 elements of 'index' is spread}}
func.func private @f(!pit_gpu.fragment<1x64xindex, spread>)
