//===- PitScheduleAttributes.td - How mainloops are run ----*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD
#define PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD

include "pit/Dialect/Pit/IR/PitAttributes.td"

def Pit_DotScheduleAttr : Pit_Attr<"DotSchedule", "dot_schedule"> {
  let summary = "how a CPU multiplies narrow elements whose sums are wide";
  let description = [{
    Part of a `#pit.cpu_schedule`. Instructions take several neighbours along k at
    once. Both operands are packed so that these lie together, with zeros from
    where k ends to the end of a step.

    - `group`: neighbours along k.
    - `step`: elements along k of a row of a tile register.
    - `tile_rows`: rows of a tile register of A and of sums.
    - `tiles`: such registers in a register block, along m.
    - `element`: the type of packed operands.
    - `amx`: in tile registers; else in vectors.
    - `zext_a`, `zext_b`: the operand's integers are unsigned.

    Example: `#pit.dot_schedule<group = 2, step = 32, tile_rows = 16, tiles = 2,
    element = bf16, amx = true>`.
  }];
  let parameters = (ins
    "int64_t":$group,
    "int64_t":$step,
    "int64_t":$tile_rows,
    "int64_t":$tiles,
    "Type":$element,
    OptionalParameter<"BoolAttr">:$amx,
    OptionalParameter<"BoolAttr">:$zext_a,
    OptionalParameter<"BoolAttr">:$zext_b);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pit_CpuScheduleAttr : Pit_Attr<"CpuSchedule", "cpu_schedule"> {
  let summary = "how a CPU runs a mainloop";
  let description = [{
    The attribute `pit.schedule` of a `pit.mainloop`. `pit-schedule-mainloops` makes
    it, and `convert-pit-to-scf` does what it says. A mainloop is computed as
    C[m, n] += A[m, k] * B[k, n] is by a BLAS: vectors run along n, a block of rows
    and vectors stays in registers while k is run through, elements of A are
    broadcast. Dimensions are numbered as in the mainloop's `tile`.

    - `a`: the operand that is read by rows; the other one, B, is read by lanes.
    - `m`: the rows of a register block, if there are several.
    - `n`: the dimension along the lanes, and `lane`: the dimension of B that it is.
    - `batch`: the other dimensions of the accumulator.
    - `k`: those of sums; the innermost loop is last.
    - `lanes`: elements of a vector; 1 if elements are computed one by one.
    - `rows`, `vectors`: of a register block.
    - `pack_a`: elements of A are copied before they are used: those of a row do
      not follow each other, or have to be extended.
    - `pack_b`: lanes run along windows of B, which are copied, too.
    - `transpose_b`, `transpose_c`: lanes are no neighbours in B, or in C.
    - `dots`: how products of narrow elements are computed by instructions for
      them.

    Example: a block of 6 rows by 4 vectors of 16 f32.

    ```mlir
    #pit.cpu_schedule<a = 0, m = 0, n = 1, lane = 1, k = [2], lanes = 16, rows = 6, vectors = 4>
    ```
  }];
  let parameters = (ins
    "int64_t":$a,
    DefaultValuedParameter<"int64_t", "-1">:$m,
    "int64_t":$n,
    "int64_t":$lane,
    OptionalParameter<"DenseI64ArrayAttr">:$batch,
    OptionalParameter<"DenseI64ArrayAttr">:$k,
    "int64_t":$lanes,
    "int64_t":$rows,
    "int64_t":$vectors,
    OptionalParameter<"BoolAttr">:$pack_a,
    OptionalParameter<"BoolAttr">:$pack_b,
    OptionalParameter<"BoolAttr">:$transpose_b,
    OptionalParameter<"BoolAttr">:$transpose_c,
    OptionalParameter<"DotScheduleAttr">:$dots);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimensions that it has parts for, in no order.
    SmallVector<int64_t> getDims() const;
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITSCHEDULEATTRIBUTES_TD
