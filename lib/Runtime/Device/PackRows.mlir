//===- PackRows.mlir - Rows that TMA and wgmma can take -------------------===//
//
// Copies of tensors whose rows start at multiples of 16 bytes. Bytes behind the
// end of a row are zeros. The source of a row was one, or it was a column: then
// a tile goes through shared memory.
//
// A tensor is batches of matrices; up to three dimensions number the batches, of
// which the sizes of the inner two are here. Strides of the source are in bytes.
//
//===----------------------------------------------------------------------===//

llvm.mlir.global internal @packed_tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<17024 x i8>

/// Bytes from a tensor's start to that of a batch.
func.func private @batch_offset(%batch: i64, %n1: i64, %n2: i64,
                                %s0: i64, %s1: i64, %s2: i64) -> i64 {
  %rest = arith.divui %batch, %n2 : i64
  %b2 = arith.remui %batch, %n2 : i64
  %b1 = arith.remui %rest, %n1 : i64
  %b0 = arith.divui %rest, %n1 : i64
  %o0 = arith.muli %b0, %s0 : i64
  %o1 = arith.muli %b1, %s1 : i64
  %o2 = arith.muli %b2, %s2 : i64
  %o01 = arith.addi %o0, %o1 : i64
  %o = arith.addi %o01, %o2 : i64
  return %o : i64
}

/// The element of 1, 2 or 4 bytes at `from`.
func.func private @element_at(%from: !llvm.ptr<1>, %size_log2: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %is_byte = arith.cmpi eq, %size_log2, %c0 : i32
  %is_half = arith.cmpi eq, %size_log2, %c1 : i32
  %value = scf.if %is_byte -> (i32) {
    %x = llvm.load %from invariant : !llvm.ptr<1> -> i8
    %wide = arith.extui %x : i8 to i32
    scf.yield %wide : i32
  } else {
    %other = scf.if %is_half -> (i32) {
      %x = llvm.load %from invariant : !llvm.ptr<1> -> i16
      %wide = arith.extui %x : i16 to i32
      scf.yield %wide : i32
    } else {
      %x = llvm.load %from invariant : !llvm.ptr<1> -> i32
      scf.yield %x : i32
    }
    scf.yield %other : i32
  }
  return %value : i32
}

/// Four of the 16 bytes at `chunk`, from `at` on. Bytes that are not among the
/// first `limit` (at least an element) are 0; with `whole`, there are all 16.
func.func private @word_of_chunk(%chunk: !llvm.ptr<1>, %at: i32, %limit: i32, %whole: i1,
                                 %size_log2: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %count = arith.shrui %c4, %size_log2 : i32
  %size = arith.shli %c1, %size_log2 : i32
  %last = arith.subi %limit, %size : i32
  %word = scf.for %i = %c0 to %count step %c1 iter_args(%before = %c0) -> (i32) : i32 {
    %byte = arith.shli %i, %size_log2 : i32
    %own = arith.addi %at, %byte : i32
    %below = arith.cmpi ult, %own, %limit : i32
    %inside = arith.ori %below, %whole : i1
    // No branch around the load: some element is read.
    %nearest = arith.minui %own, %last : i32
    %there = arith.select %whole, %own, %nearest : i32
    %from = llvm.getelementptr %chunk[%there] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %x = func.call @element_at(%from, %size_log2) : (!llvm.ptr<1>, i32) -> i32
    %kept = arith.select %inside, %x, %c0 : i32
    %bits = arith.shli %byte, %c3 : i32
    %moved = arith.shli %kept, %bits : i32
    %after = arith.ori %before, %moved : i32
    scf.yield %after : i32
  }
  return %word : i32
}

/// All 16 of them.
func.func private @read_chunk(%chunk: !llvm.ptr<1>, %limit: i32, %whole: i1,
                              %size_log2: i32) -> vector<4xi32> {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %w0 = func.call @word_of_chunk(%chunk, %c0, %limit, %whole, %size_log2)
      : (!llvm.ptr<1>, i32, i32, i1, i32) -> i32
  %w1 = func.call @word_of_chunk(%chunk, %c4, %limit, %whole, %size_log2)
      : (!llvm.ptr<1>, i32, i32, i1, i32) -> i32
  %w2 = func.call @word_of_chunk(%chunk, %c8, %limit, %whole, %size_log2)
      : (!llvm.ptr<1>, i32, i32, i1, i32) -> i32
  %w3 = func.call @word_of_chunk(%chunk, %c12, %limit, %whole, %size_log2)
      : (!llvm.ptr<1>, i32, i32, i1, i32) -> i32
  %words = vector.from_elements %w0, %w1, %w2, %w3 : vector<4xi32>
  return %words : vector<4xi32>
}

/// Elements of a row are neighbours. A thread takes pieces of 16 bytes: 2^wide_log2 threads
/// lie along a row, the others below each other, four times.
func.func private @pack_as_rows(
    %to: !llvm.ptr<1>, %from: !llvm.ptr<1>, %size_log2: i32, %batches: i64,
    %n1: i64, %n2: i64, %s0: i64, %s1: i64, %s2: i64,
    %rows: i64, %row_stride: i64, %columns: i64, %pitch: i64,
    %wide_log2: i32) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %i4 = arith.constant 4 : i64
  %i16 = arith.constant 16 : i64
  %true = arith.constant true
  %false = arith.constant false
  %wide = arith.shli %c1, %wide_log2 : i32
  %mask = arith.subi %wide, %c1 : i32
  %x32 = arith.andi %tid, %mask : i32
  %x = arith.extui %x32 : i32 to i64
  %y32 = arith.shrui %tid, %wide_log2 : i32
  %y = arith.extui %y32 : i32 to i64
  %high32 = arith.shrui %c256, %wide_log2 : i32
  %high = arith.extui %high32 : i32 to i64
  %wide64 = arith.extui %wide : i32 to i64
  %shift64 = arith.extui %size_log2 : i32 to i64
  %end = arith.shli %columns, %shift64 : i64
  %chunks = arith.divui %pitch, %i16 : i64
  %across = arith.ceildivui %chunks, %wide64 : i64
  %tile_rows = arith.muli %high, %i4 : i64
  %down = arith.ceildivui %rows, %tile_rows : i64
  %of_batch = arith.muli %across, %down : i64
  %tiles = arith.muli %of_batch, %batches : i64
  %first = arith.extui %block : i32 to i64
  %by = arith.extui %blocks : i32 to i64
  scf.for %tile = %first to %tiles step %by : i64 {
    %strip = arith.divui %tile, %across : i64
    %tile_x = arith.remui %tile, %across : i64
    %batch = arith.divui %strip, %down : i64
    %tile_y = arith.remui %strip, %down : i64
    %offset = func.call @batch_offset(%batch, %n1, %n2, %s0, %s1, %s2)
        : (i64, i64, i64, i64, i64, i64) -> i64
    %batch_row = arith.muli %batch, %rows : i64
    %skipped = arith.muli %tile_x, %wide64 : i64
    %chunk = arith.addi %skipped, %x : i64
    %has_chunk = arith.cmpi ult, %chunk, %chunks : i64
    %at = arith.muli %chunk, %i16 : i64
    %left = arith.subi %end, %at : i64
    %is_whole = arith.cmpi sge, %left, %i16 : i64
    %limit = arith.trunci %left : i64 to i32
    %above = arith.muli %tile_y, %tile_rows : i64
    %row0 = arith.addi %above, %y : i64
    %below = arith.addi %above, %tile_rows : i64
    %row_end = arith.minui %below, %rows : i64
    scf.for %r = %row0 to %row_end step %high : i64 {
      scf.if %has_chunk {
        %row_offset = arith.muli %r, %row_stride : i64
        %both = arith.addi %offset, %row_offset : i64
        %row = llvm.getelementptr %from[%both] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %chunk_at = llvm.getelementptr %row[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %chunk_of = scf.if %is_whole -> (vector<4xi32>) {
          %all = func.call @read_chunk(%chunk_at, %limit, %true, %size_log2)
              : (!llvm.ptr<1>, i32, i1, i32) -> vector<4xi32>
          scf.yield %all : vector<4xi32>
        } else {
          %some = func.call @read_chunk(%chunk_at, %limit, %false, %size_log2)
              : (!llvm.ptr<1>, i32, i1, i32) -> vector<4xi32>
          scf.yield %some : vector<4xi32>
        }
        %out_row = arith.addi %batch_row, %r : i64
        %out = arith.muli %out_row, %pitch : i64
        %out_at = arith.addi %out, %at : i64
        %place = llvm.getelementptr %to[%out_at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        llvm.store %chunk_of, %place {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      }
    }
  }
  return
}

/// Elements of a row of the copy lie `column_stride` apart, those of a column are
/// better neighbours. By tiles of 2^side_log2 x 2^side_log2 elements. In shared
/// memory a column has four bytes more, so that neighbours lie in other banks.
/// `rows` and `columns` are those of the copy.
func.func private @pack_columns(
    %to: !llvm.ptr<1>, %from: !llvm.ptr<1>, %size_log2: i32, %side_log2: i32, %batches: i64,
    %n1: i64, %n2: i64, %s0: i64, %s1: i64, %s2: i64,
    %rows: i64, %row_stride: i64, %columns: i64, %column_stride: i64, %pitch: i64) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  %tile_at = llvm.mlir.addressof @packed_tile : !llvm.ptr<3>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %c256 = arith.constant 256 : i32
  %i1 = arith.constant 1 : i64
  %i16 = arith.constant 16 : i64
  %side = arith.shli %c1, %side_log2 : i32
  %side64 = arith.extui %side : i32 to i64
  %mask = arith.subi %side, %c1 : i32
  %side_bytes = arith.shli %side, %size_log2 : i32
  %line = arith.addi %side_bytes, %c4 : i32
  %elements = arith.shli %side, %side_log2 : i32
  %steps = arith.divui %elements, %c256 : i32
  %row_chunks = arith.divui %side_bytes, %c16 : i32
  %tile_chunks = arith.muli %row_chunks, %side : i32
  %chunk_steps = arith.divui %tile_chunks, %c256 : i32
  %last_row = arith.subi %rows, %i1 : i64
  %last_column = arith.subi %columns, %i1 : i64
  %across = arith.ceildivui %columns, %side64 : i64
  %down = arith.ceildivui %rows, %side64 : i64
  %of_batch = arith.muli %across, %down : i64
  %tiles = arith.muli %of_batch, %batches : i64
  %first = arith.extui %block : i32 to i64
  %by = arith.extui %blocks : i32 to i64
  scf.for %tile = %first to %tiles step %by : i64 {
    // Neighbouring blocks read neighbouring pieces of the same rows.
    %strip = arith.divui %tile, %down : i64
    %tile_y = arith.remui %tile, %down : i64
    %batch = arith.divui %strip, %across : i64
    %tile_x = arith.remui %strip, %across : i64
    %offset = func.call @batch_offset(%batch, %n1, %n2, %s0, %s1, %s2)
        : (i64, i64, i64, i64, i64, i64) -> i64
    %matrix = llvm.getelementptr %from[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %row0 = arith.muli %tile_y, %side64 : i64
    %column0 = arith.muli %tile_x, %side64 : i64
    scf.for %i = %c0 to %steps step %c1 : i32 {
      %skipped = arith.muli %i, %c256 : i32
      %number = arith.addi %skipped, %tid : i32
      %r32 = arith.andi %number, %mask : i32
      %c32 = arith.shrui %number, %side_log2 : i32
      %r_own = arith.extui %r32 : i32 to i64
      %c_own = arith.extui %c32 : i32 to i64
      %r = arith.addi %row0, %r_own : i64
      %c = arith.addi %column0, %c_own : i64
      %r_there = arith.minui %r, %last_row : i64
      %c_there = arith.minui %c, %last_column : i64
      %r_offset = arith.muli %r_there, %row_stride : i64
      %c_offset = arith.muli %c_there, %column_stride : i64
      %both = arith.addi %r_offset, %c_offset : i64
      %at = llvm.getelementptr %matrix[%both] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %read = func.call @element_at(%at, %size_log2) : (!llvm.ptr<1>, i32) -> i32
      // Rows that do not exist are not written; columns are what rows end in.
      %inside = arith.cmpi ult, %c, %columns : i64
      %x = arith.select %inside, %read, %c0 : i32
      %line_at = arith.muli %r32, %line : i32
      %in_line = arith.shli %c32, %size_log2 : i32
      %place = arith.addi %line_at, %in_line : i32
      %put = llvm.getelementptr %tile_at[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      func.call @put_element(%x, %put, %size_log2) : (i32, !llvm.ptr<3>, i32) -> ()
    }
    nvvm.barrier
    scf.for %i = %c0 to %chunk_steps step %c1 : i32 {
      %skipped = arith.muli %i, %c256 : i32
      %number = arith.addi %skipped, %tid : i32
      %r32 = arith.divui %number, %row_chunks : i32
      %chunk32 = arith.remui %number, %row_chunks : i32
      %r_own = arith.extui %r32 : i32 to i64
      %r = arith.addi %row0, %r_own : i64
      %chunk_at = arith.muli %chunk32, %c16 : i32
      %own = arith.extui %chunk_at : i32 to i64
      %shift64 = arith.extui %size_log2 : i32 to i64
      %tile_bytes = arith.shli %column0, %shift64 : i64
      %at = arith.addi %tile_bytes, %own : i64
      %has_row = arith.cmpi ult, %r, %rows : i64
      %has_chunk = arith.cmpi ult, %at, %pitch : i64
      %is_mine = arith.andi %has_row, %has_chunk : i1
      scf.if %is_mine {
        %line_at = arith.muli %r32, %line : i32
        %get = arith.addi %line_at, %chunk_at : i32
        %p = llvm.getelementptr %tile_at[%get] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %p1 = llvm.getelementptr %p[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
        %p2 = llvm.getelementptr %p[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
        %p3 = llvm.getelementptr %p[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
        %w0 = llvm.load %p : !llvm.ptr<3> -> i32
        %w1 = llvm.load %p1 : !llvm.ptr<3> -> i32
        %w2 = llvm.load %p2 : !llvm.ptr<3> -> i32
        %w3 = llvm.load %p3 : !llvm.ptr<3> -> i32
        %chunk = vector.from_elements %w0, %w1, %w2, %w3 : vector<4xi32>
        %batch_row = arith.muli %batch, %rows : i64
        %out_row = arith.addi %batch_row, %r : i64
        %out = arith.muli %out_row, %pitch : i64
        %out_at = arith.addi %out, %at : i64
        %place = llvm.getelementptr %to[%out_at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        llvm.store %chunk, %place {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      }
    }
    nvvm.barrier
  }
  return
}

/// Stores the low bytes of `x`.
func.func private @put_element(%x: i32, %to: !llvm.ptr<3>, %size_log2: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %is_byte = arith.cmpi eq, %size_log2, %c0 : i32
  %is_half = arith.cmpi eq, %size_log2, %c1 : i32
  scf.if %is_byte {
    %low = arith.trunci %x : i32 to i8
    llvm.store %low, %to : i8, !llvm.ptr<3>
  } else {
    scf.if %is_half {
      %low = arith.trunci %x : i32 to i16
      llvm.store %low, %to : i16, !llvm.ptr<3>
    } else {
      llvm.store %x, %to : i32, !llvm.ptr<3>
    }
  }
  return
}

llvm.func @pit_pack_rows(
    %to: !llvm.ptr<1>, %from: !llvm.ptr<1>, %size_log2: i32, %batches: i64,
    %n1: i64, %n2: i64, %s0: i64, %s1: i64, %s2: i64,
    %rows: i64, %row_stride: i64, %columns: i64, %pitch: i64,
    %wide_log2: i32, %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 4 : i32,
                nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // Sizes that are known where the functions are inlined.
  %is_byte = arith.cmpi eq, %size_log2, %c0 : i32
  %is_half = arith.cmpi eq, %size_log2, %c1 : i32
  scf.if %is_byte {
    func.call @pack_as_rows(%to, %from, %c0, %batches, %n1, %n2, %s0, %s1, %s2, %rows, %row_stride,
                            %columns, %pitch, %wide_log2)
        : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32) -> ()
  } else {
    scf.if %is_half {
      func.call @pack_as_rows(%to, %from, %c1, %batches, %n1, %n2, %s0, %s1, %s2, %rows, %row_stride,
                              %columns, %pitch, %wide_log2)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32) -> ()
    } else {
      func.call @pack_as_rows(%to, %from, %c2, %batches, %n1, %n2, %s0, %s1, %s2, %rows, %row_stride,
                              %columns, %pitch, %wide_log2)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32) -> ()
    }
  }
  llvm.return
}

llvm.func @pit_pack_columns(
    %to: !llvm.ptr<1>, %from: !llvm.ptr<1>, %size_log2: i32, %batches: i64,
    %n1: i64, %n2: i64, %s0: i64, %s1: i64, %s2: i64,
    %rows: i64, %row_stride: i64, %columns: i64, %column_stride: i64, %pitch: i64,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  func.call @let_next_start() : () -> ()
  func.call @wait_for_previous() : () -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %c7 = arith.constant 7 : i32
  %is_byte = arith.cmpi eq, %size_log2, %c0 : i32
  %is_half = arith.cmpi eq, %size_log2, %c1 : i32
  scf.if %is_byte {
    func.call @pack_columns(%to, %from, %c0, %c7, %batches, %n1, %n2, %s0, %s1, %s2, %rows,
                            %row_stride, %columns, %column_stride, %pitch)
        : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> ()
  } else {
    scf.if %is_half {
      func.call @pack_columns(%to, %from, %c1, %c6, %batches, %n1, %n2, %s0, %s1, %s2, %rows,
                              %row_stride, %columns, %column_stride, %pitch)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> ()
    } else {
      func.call @pack_columns(%to, %from, %c2, %c6, %batches, %n1, %n2, %s0, %s1, %s2, %rows,
                              %row_stride, %columns, %column_stride, %pitch)
          : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> ()
    }
  }
  llvm.return
}
