//===- IndexGeneral.mlir - Liveness for every shape, stride and source ----===//
//
// `dims` tells of up to 8 dimensions of X other than the axis, the innermost at
// number 7, the unused ones with a single element. [field][dim] are: how many
// groups one step along the dim skips; windows; their size; their step; the
// extent; what one coordinate adds to the place in the data; what it adds to
// the number that the source compares with.
//
// An element is live, by kind:
//   0 values: place in bytes, (bits ^ background) & care is not 0, or always
//   1 mask bits: bit `number` of the row of bytes at the place
//   2 lengths: number < the integer at the place
//   3 routing: number is one of `slots` integers from the place on
//
//===----------------------------------------------------------------------===//



/// The bits in which any of `count` elements of 2^size_log2 bytes differs from the
/// background: element `begin` of a run, and every 2^by_log2-th from there.
func.func private @run_of_values(%data: !llvm.ptr<1>, %place: i64, %stride: i64,
                                 %begin: i64, %by_log2: i64, %count: i64,
                                 %size_log2: i32, %background: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %skipped = arith.muli %begin, %stride : i64
  %first_place = arith.addi %place, %skipped : i64
  %first = llvm.getelementptr %data[%first_place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %distance = arith.shli %stride, %by_log2 : i64
  %size = arith.index_cast %size_log2 : i32 to index
  %differs = scf.index_switch %size -> i64
  case 0 {
    %sum = scf.for %i = %zero to %count step %one iter_args(%s = %zero) -> (i64) : i64 {
      %moved = arith.muli %i, %distance : i64
      %at = llvm.getelementptr %first[%moved] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.load %at invariant : !llvm.ptr<1> -> i8
      %wide = arith.extui %v : i8 to i64
      %x = arith.xori %wide, %background : i64
      %next = arith.ori %s, %x : i64
      scf.yield %next : i64
    }
    scf.yield %sum : i64
  }
  case 1 {
    %sum = scf.for %i = %zero to %count step %one iter_args(%s = %zero) -> (i64) : i64 {
      %moved = arith.muli %i, %distance : i64
      %at = llvm.getelementptr %first[%moved] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.load %at invariant : !llvm.ptr<1> -> i16
      %wide = arith.extui %v : i16 to i64
      %x = arith.xori %wide, %background : i64
      %next = arith.ori %s, %x : i64
      scf.yield %next : i64
    }
    scf.yield %sum : i64
  }
  case 2 {
    %sum = scf.for %i = %zero to %count step %one iter_args(%s = %zero) -> (i64) : i64 {
      %moved = arith.muli %i, %distance : i64
      %at = llvm.getelementptr %first[%moved] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.load %at invariant : !llvm.ptr<1> -> i32
      %wide = arith.extui %v : i32 to i64
      %x = arith.xori %wide, %background : i64
      %next = arith.ori %s, %x : i64
      scf.yield %next : i64
    }
    scf.yield %sum : i64
  }
  default {
    %sum = scf.for %i = %zero to %count step %one iter_args(%s = %zero) -> (i64) : i64 {
      %moved = arith.muli %i, %distance : i64
      %at = llvm.getelementptr %first[%moved] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.load %at invariant : !llvm.ptr<1> -> i64
      %x = arith.xori %v, %background : i64
      %next = arith.ori %s, %x : i64
      scf.yield %next : i64
    }
    scf.yield %sum : i64
  }
  return %differs : i64
}

/// The liveness of an element, for sources other than values.
func.func private @is_live(%kind: i32, %data: !llvm.ptr<1>, %place: i64,
                           %number: i64, %wide: i1, %slot_stride: i64,
                           %slots: i64) -> i1 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %false = arith.constant false
  %which = arith.index_cast %kind : i32 to index
  %live = scf.index_switch %which -> i1
  case 1 {
    %byte = arith.shrui %number, %c3 : i64
    %column = arith.muli %byte, %slot_stride : i64
    %offset = arith.addi %place, %column : i64
    %at = llvm.getelementptr %data[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %v = llvm.load %at invariant : !llvm.ptr<1> -> i8
    %bits = arith.extui %v : i8 to i64
    %bit = arith.andi %number, %c7 : i64
    %moved = arith.shrui %bits, %bit : i64
    %l = arith.trunci %moved : i64 to i1
    scf.yield %l : i1
  }
  case 2 {
    %length = func.call @load_int(%data, %wide, %place) : (!llvm.ptr<1>, i1, i64) -> i64
    %l = arith.cmpi slt, %number, %length : i64
    scf.yield %l : i1
  }
  case 4 {
    %matrix = arith.divui %number, %slots : i64
    %first = arith.muli %matrix, %slots : i64
    %row = arith.subi %number, %first : i64
    %offset = arith.muli %matrix, %slot_stride : i64
    %length = func.call @load_int(%data, %wide, %offset) : (!llvm.ptr<1>, i1, i64) -> i64
    %l = arith.cmpi slt, %row, %length : i64
    scf.yield %l : i1
  }
  default {
    %l = scf.for %j = %zero to %slots step %one iter_args(%found = %false) -> (i1) : i64 {
      %column = arith.muli %j, %slot_stride : i64
      %offset = arith.addi %place, %column : i64
      %expert = func.call @load_int(%data, %wide, %offset) : (!llvm.ptr<1>, i1, i64) -> i64
      %same = arith.cmpi eq, %expert, %number : i64
      %next = arith.ori %found, %same : i1
      scf.yield %next : i1
    }
    scf.yield %l : i1
  }
  return %live : i1
}

/// The sum of x over each 8 lanes of a warp.
func.func private @sum_of_8(%x: i64) -> i64 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %x1, %0 = gpu.shuffle xor %x, %c1, %c32 : i64
  %s1 = arith.addi %x, %x1 : i64
  %x2, %1 = gpu.shuffle xor %s1, %c2, %c32 : i64
  %s2 = arith.addi %s1, %x2 : i64
  %x4, %2 = gpu.shuffle xor %s2, %c4, %c32 : i64
  %s4 = arith.addi %s2, %x4 : i64
  return %s4 : i64
}

/// A warp computes a group's box. Lane l sees dim l % 8: its length and the
/// number of runs (along dim 7) that one step along it skips. Then for all of
/// the box: its place and number, the runs, and their length.
func.func private @box_of_group(%dims: !llvm.ptr, %group: i32)
    -> (i64, i64, i64, i64, i64, i64) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %dim = arith.andi %tid, %c7 : i32
  %skip_at = llvm.getelementptr %dims[0, 0, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %skip = llvm.load %skip_at : !llvm.ptr -> i64
  %windows_at = llvm.getelementptr %dims[0, 1, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %windows = llvm.load %windows_at : !llvm.ptr -> i64
  %size_at = llvm.getelementptr %dims[0, 2, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %size = llvm.load %size_at : !llvm.ptr -> i64
  %step_at = llvm.getelementptr %dims[0, 3, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %step = llvm.load %step_at : !llvm.ptr -> i64
  %extent_at = llvm.getelementptr %dims[0, 4, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %extent = llvm.load %extent_at : !llvm.ptr -> i64
  %stride:2 = func.call @strides_of_dim(%dims, %dim) : (!llvm.ptr, i32) -> (i64, i64)
  %group64 = arith.extui %group : i32 to i64
  %coarse = arith.divui %group64, %skip : i64
  %window = arith.remui %coarse, %windows : i64
  %begin = arith.muli %window, %step : i64
  %rest = arith.subi %extent, %begin : i64
  %clipped = arith.minsi %size, %rest : i64
  %length = arith.maxsi %clipped, %zero : i64
  %my_place = arith.muli %begin, %stride#0 : i64
  %my_number = arith.muli %begin, %stride#1 : i64
  %place = func.call @sum_of_8(%my_place) : (i64) -> i64
  %number = func.call @sum_of_8(%my_number) : (i64) -> i64
  %run, %0 = gpu.shuffle idx %length, %c7, %c32 : i64
  %runs:2 = scf.for %d = %c0 to %c7 step %c1
      iter_args(%all = %one, %later = %one) -> (i64, i64) : i32 {
    %other, %1 = gpu.shuffle idx %length, %d, %c32 : i64
    %next_all = arith.muli %all, %other : i64
    %is_later = arith.cmpi ugt, %d, %dim : i32
    %factor = arith.select %is_later, %other, %one : i64
    %next_later = arith.muli %later, %factor : i64
    scf.yield %next_all, %next_later : i64, i64
  }
  return %length, %runs#1, %place, %number, %runs#0, %run
      : i64, i64, i64, i64, i64, i64
}

func.func private @strides_of_dim(%dims: !llvm.ptr, %dim: i32) -> (i64, i64) {
  %place_at = llvm.getelementptr %dims[0, 5, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %place = llvm.load %place_at : !llvm.ptr -> i64
  %number_at = llvm.getelementptr %dims[0, 6, %dim] : (!llvm.ptr, i32) -> !llvm.ptr, !dims
  %number = llvm.load %number_at : !llvm.ptr -> i64
  return %place, %number : i64, i64
}

/// A warp finds the start of run `n` of a box: its place and number, to be
/// added to the box's. %length and %skip as box_of_group gives them.
func.func private @start_of_run(%dims: !llvm.ptr, %n: i64, %length: i64,
                                %skip: i64) -> (i64, i64) {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %c7 = arith.constant 7 : i32
  %zero = arith.constant 0 : i64
  %dim = arith.andi %tid, %c7 : i32
  %stride:2 = func.call @strides_of_dim(%dims, %dim) : (!llvm.ptr, i32) -> (i64, i64)
  %coarse = arith.divui %n, %skip : i64
  %in_dim = arith.remui %coarse, %length : i64
  %is_run = arith.cmpi eq, %dim, %c7 : i32
  %k = arith.select %is_run, %zero, %in_dim : i64
  %my_place = arith.muli %k, %stride#0 : i64
  %my_number = arith.muli %k, %stride#1 : i64
  %place = func.call @sum_of_8(%my_place) : (i64) -> i64
  %number = func.call @sum_of_8(%my_number) : (i64) -> i64
  return %place, %number : i64, i64
}

/// A warp computes the liveness of the box of `group`, moved by what the id
/// adds. The elements of a run are split over 2^by_log2 lanes, of which this is
/// number `begin`; a lane that is not `active` reads nothing.
func.func private @scan_box(%dims: !llvm.ptr, %group: i32, %id_place: i64,
                            %id_number: i64, %active: i1, %begin: i64, %by_log2: i64,
                            %kind: i32, %data: !llvm.ptr<1>, %size_log2: i32,
                            %background: i64, %care: i64, %always: i1,
                            %wide: i1, %slot_stride: i64, %slots: i64) -> i1 {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %cm1 = arith.constant -1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %false = arith.constant false
  %true = arith.constant true
  %box:6 = func.call @box_of_group(%dims, %group) : (!llvm.ptr, i32) -> (i64, i64, i64, i64, i64, i64)
  %run_stride:2 = func.call @strides_of_dim(%dims, %c7) : (!llvm.ptr, i32) -> (i64, i64)
  %place0 = arith.addi %box#2, %id_place : i64
  %number0 = arith.addi %box#3, %id_number : i64
  // The elements of a run that are this lane's.
  %by = arith.shli %one, %by_log2 : i64
  %rest = arith.subi %box#5, %begin : i64
  %rounding = arith.subi %by, %one : i64
  %rounded = arith.addi %rest, %rounding : i64
  %mine = arith.shrsi %rounded, %by_log2 : i64
  %count = arith.select %active, %mine, %zero : i64
  %is_values = arith.cmpi eq, %kind, %c0 : i32
  %some = arith.cmpi sgt, %box#5, %zero : i64
  %num_runs = arith.select %some, %box#4, %zero : i64
  %result:2 = scf.while (%n = %zero, %found = %false) : (i64, i1) -> (i64, i1) {
    %more = arith.cmpi slt, %n, %num_runs : i64
    %not_found = arith.xori %found, %true : i1
    %open = arith.andi %not_found, %active : i1
    %lanes = nvvm.vote.sync ballot %cm1, %open -> i32
    %any_open = arith.cmpi ne, %lanes, %c0 : i32
    %goes_on = arith.andi %more, %any_open : i1
    scf.condition(%goes_on) %n, %found : i64, i1
  } do {
  ^bb0(%n: i64, %found: i1):
    %start:2 = func.call @start_of_run(%dims, %n, %box#0, %box#1) : (!llvm.ptr, i64, i64, i64) -> (i64, i64)
    %place1 = arith.addi %place0, %start#0 : i64
    %number1 = arith.addi %number0, %start#1 : i64
    %live = scf.if %is_values -> (i1) {
      // Without branches, so that many loads are under way.
      %differs = func.call @run_of_values(%data, %place1, %run_stride#0, %begin,
                                          %by_log2, %count, %size_log2, %background)
          : (!llvm.ptr<1>, i64, i64, i64, i64, i64, i32, i64) -> i64
      %cared = arith.andi %differs, %care : i64
      %some_differ = arith.cmpi ne, %cared, %zero : i64
      %reads = arith.cmpi sgt, %count, %zero : i64
      %any = arith.andi %reads, %always : i1
      %l0 = arith.ori %some_differ, %any : i1
      %l1 = arith.ori %l0, %found : i1
      scf.yield %l1 : i1
    } else {
      %l = scf.for %i = %zero to %count step %one iter_args(%l0 = %found) -> (i1) : i64 {
        %moved = arith.shli %i, %by_log2 : i64
        %k = arith.addi %begin, %moved : i64
        %k_place = arith.muli %k, %run_stride#0 : i64
        %k_number = arith.muli %k, %run_stride#1 : i64
        %place = arith.addi %place1, %k_place : i64
        %number = arith.addi %number1, %k_number : i64
        %is_live = func.call @is_live(%kind, %data, %place, %number, %wide,
                                      %slot_stride, %slots)
            : (i32, !llvm.ptr<1>, i64, i64, i1, i64, i64) -> i1
        %next_l = arith.ori %l0, %is_live : i1
        scf.yield %next_l : i1
      }
      scf.yield %l : i1
    }
    %next = arith.addi %n, %one : i64
    scf.yield %next, %live : i64, i1
  }
  return %result#1 : i1
}

/// A warp takes 32 ids of a group, a lane one of them: where ids are neighbours
/// in memory, or micro-tiles small.
llvm.func @pit_index_lanes(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>,
    %dims: !llvm.ptr {llvm.byval = !dims, llvm.align = 8 : i64, nvvm.grid_constant},
    %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %id_place: i64, %id_number: i64, %kind: i32, %data: !llvm.ptr<1>,
    %size_log2: i32, %background: i64, %care: i64, %always32: i32,
    %wide32: i32, %slot_stride: i64, %slots: i64,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 2 : i32} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %always = arith.cmpi ne, %always32, %c0 : i32
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %lane = arith.andi %tid, %c31 : i32
  %leads = arith.cmpi eq, %lane, %c0 : i32
  %warp_in_block = arith.shrui %tid, %c5 : i32
  %block_warp = arith.muli %block, %c8 : i32
  %warp = arith.addi %block_warp, %warp_in_block : i32
  %warps = arith.muli %grid, %c8 : i32
  %items = arith.muli %groups, %words : i32
  scf.for %item = %warp to %items step %warps : i32 {
    %group = arith.divui %item, %words : i32
    %group_item = arith.muli %group, %words : i32
    %at = arith.subi %item, %group_item : i32
    %first = arith.muli %at, %c32 : i32
    %id32 = arith.addi %first, %lane : i32
    %id = arith.extui %id32 : i32 to i64
    %active = arith.cmpi ult, %id, %extent : i64
    %place = arith.muli %id, %id_place : i64
    %number = arith.muli %id, %id_number : i64
    %live = func.call @scan_box(%dims, %group, %place, %number, %active, %zero,
                                %zero, %kind, %data, %size_log2, %background,
                                %care, %always, %wide, %slot_stride, %slots)
        : (!llvm.ptr, i32, i64, i64, i1, i64, i64, i32, !llvm.ptr<1>, i32, i64,
           i64, i1, i1, i64, i64) -> i1
    %word = nvvm.vote.sync ballot %cm1, %live -> i32
    scf.if %leads {
      %item64 = arith.extui %item : i32 to i64
      %to = llvm.getelementptr %bits[%item64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %word, %to : i32, !llvm.ptr<1>
    }
  }
  llvm.return
}

/// A block takes 32 ids of a group, a warp four of them, one by one: where long
/// runs of a micro-tile are neighbours in memory.
llvm.func @pit_index_warps(
    %head: !llvm.ptr {llvm.byval = !llvm.array<384 x i8>, llvm.align = 8 : i64, nvvm.grid_constant},
    %copy: !llvm.ptr<1>, %counter: !llvm.ptr<1>,
    %dims: !llvm.ptr {llvm.byval = !dims, llvm.align = 8 : i64, nvvm.grid_constant},
    %bits: !llvm.ptr<1>, %groups: i32, %words: i32, %extent: i64,
    %id_place: i64, %id_number: i64, %kind: i32, %data: !llvm.ptr<1>,
    %size_log2: i32, %background: i64, %care: i64, %always32: i32,
    %wide32: i32, %slot_stride: i64, %slots: i64,
    %when: !llvm.ptr<1>, %value: i32)
    attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256>, nvvm.minctasm = 2 : i32} {
  func.call @begin_index(%head, %copy, %counter) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>) -> ()
  %leaves = func.call @leaves(%when, %value) : (!llvm.ptr<1>, i32) -> i1
  llvm.cond_br %leaves, ^leave, ^run
^leave:
  llvm.return
^run:
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %grid = nvvm.read.ptx.sreg.nctaid.x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %cm1 = arith.constant -1 : i32
  %by_log2 = arith.constant 5 : i64
  %always = arith.cmpi ne, %always32, %c0 : i32
  %wide = arith.cmpi ne, %wide32, %c0 : i32
  %lane = arith.andi %tid, %c31 : i32
  %lane64 = arith.extui %lane : i32 to i64
  %warp = arith.shrui %tid, %c5 : i32
  %warp_first = arith.muli %warp, %c4 : i32
  %items = arith.muli %groups, %words : i32
  scf.for %item = %block to %items step %grid : i32 {
    %group = arith.divui %item, %words : i32
    %group_item = arith.muli %group, %words : i32
    %at = arith.subi %item, %group_item : i32
    %block_first = arith.muli %at, %c32 : i32
    %first = arith.addi %block_first, %warp_first : i32
    %warp_bits = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      %id32 = arith.addi %first, %i : i32
      %id = arith.extui %id32 : i32 to i64
      %active = arith.cmpi ult, %id, %extent : i64
      %place = arith.muli %id, %id_place : i64
      %number = arith.muli %id, %id_number : i64
      %live = func.call @scan_box(%dims, %group, %place, %number, %active,
                                  %lane64, %by_log2, %kind, %data, %size_log2,
                                  %background, %care, %always, %wide,
                                  %slot_stride, %slots)
          : (!llvm.ptr, i32, i64, i64, i1, i64, i64, i32, !llvm.ptr<1>, i32,
             i64, i64, i1, i1, i64, i64) -> i1
      %lanes = nvvm.vote.sync ballot %cm1, %live -> i32
      %any = arith.cmpi ne, %lanes, %c0 : i32
      %place_in_word = arith.addi %warp_first, %i : i32
      %bit = arith.shli %c1, %place_in_word : i32
      %more = arith.select %any, %bit, %c0 : i32
      %next = arith.ori %sum, %more : i32
      scf.yield %next : i32
    }
    %word = func.call @bits_of_warps(%warp_bits) : (i32) -> i32
    %is_first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is_first {
      %item64 = arith.extui %item : i32 to i64
      %to = llvm.getelementptr %bits[%item64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %word, %to : i32, !llvm.ptr<1>
    }
  }
  llvm.return
}
