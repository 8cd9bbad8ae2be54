//===- PitHostOps.td - What the host does with kernels -----*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITHOSTOPS_TD
#define PIT_DIALECT_PIT_IR_PITHOSTOPS_TD

// Included by PitOps.td, which defines what is used here.

def Pit_LaunchOp : Pit_Op<"launch", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel on the device";
  let description = [{
    Runs a function of a kernel module (`pit-outline-kernels`). The function's arguments
    are the inputs, then the outputs. `#pit.launch_info` says how many blocks of how many
    threads run it.

    | operand or result | type | what it is |
    |---|---|---|
    | `iterations` | an index | bounds the iterations of the kernel's outermost loop. A block of threads runs one at a time, so more blocks would have nothing to do. With `elements` the kernel works on whole tensors, and this is the number of elements of the first output, which all blocks share |
    | `inputs` | any number, of any type that a kernel takes | what the kernel reads: tensors or memrefs of any shape, scalars, indices of a `!pit.index` type. On memrefs sizes and strides count elements, and the elements lie in the device's memory |
    | `outs` | tensors or memrefs of any shape | what the kernel writes, and may read |
    | `choice`, behind `if` | the bitmap of a `pit.choose`; an `!llvm.ptr` when that is lowered | the kernel does something only if the choice is `variant`, a number from 0 on (`pit-predicate-variants`) |
    | `fill` | one of `outs`, a memref | what `fill_kernel` fills before the kernel runs: all of its elements, as many as the index `fill_elements`, get one value |
    | `results` | the types of `outs`, one each | on tensors, what the kernel makes of the outputs. On memrefs there are none, and outputs are written in place |

    Launches run one after another in the order of the program, on the stream of the call,
    and the host does not wait.

    A fill is a launch of its own that has no other operand. `convert-pit-to-gpu` makes it
    a part of the launch behind it if that has a kernel which fills what its tiles do not
    write (`fills` of `#pit.launch_info`). `convert-pit-launch` starts `fill_kernel` where
    another kernel is started.

    Example: on tensors, and on memrefs with a fill.

    ```mlir
    %c = pit.launch @pit_kernels::@f_0 iterations(%n)
           ins(%a, %i : tensor<?x?xf32>, !pit.index<micro_tile = [32, 1], axis = 1>)
           outs(%o : tensor<?x?xf32>) -> (tensor<?x?xf32>)
    ```

    ```mlir
    pit.launch @pit_kernels::@rows iterations(%n)
      fill(%o : memref<?x64xf16> by @pit_kernels::@zeros elements(%all))
      ins(%a : memref<?x64xf16>) outs(%o : memref<?x64xf16>)
    ```

    Constraints:

    - [launch 1] outputs are all tensors, or all memrefs;
    - [launch 2] on tensors there are as many results as outputs, on memrefs
      there are none;
    - [launch 3] a result has the type of its output;
    - [launch 4] the kernel is named as `@module::@kernel`;
    - [launch 5] the choice is the bitmap of a `pit.choose`, or an `!llvm.ptr`
      when that is lowered;
    - [launch 6] with a choice the outputs are memrefs;
    - [launch 7] with a choice there is the number of a variant, 0 or more;
    - [launch 8] what is filled is one of the outputs, a memref;
    - [launch 9] with it there are the number of its elements, and a kernel that is named
      as `@module::@kernel`.
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Index:$iterations,
    Variadic<AnyType>:$inputs,
    Variadic<Pit_TensorOrMemRef>:$outs,
    Optional<AnyType>:$choice,
    Optional<AnyStridedMemRef>:$fill,
    Optional<Index>:$fill_elements,
    UnitAttr:$elements,
    OptionalAttr<I64Attr>:$variant,
    OptionalAttr<SymbolRefAttr>:$fill_kernel);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`if` `(` $choice^ `:` type($choice) `is` $variant `)`)?
    `iterations` `(` $iterations (`elements` $elements^)? `)`
    (`fill` `(` $fill^ `:` type($fill) `by` $fill_kernel
       `elements` `(` $fill_elements `)` `)`)?
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outs^ `:` type($outs) `)`)?
    attr-dict (`->` `(` type($results)^ `)`)?
  }];
  let builders = [
    OpBuilder<(ins "TypeRange":$results, "SymbolRefAttr":$kernel,
                   "Value":$iterations, "ValueRange":$inputs,
                   "ValueRange":$outs, "bool":$elements)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// Has `fill_kernel` fill an output before the kernel runs.
    void setFill(Value out, Value elements, SymbolRefAttr kernel);
  }];
}

def Pit_CheckStatusOp : Pit_Op<"check_status"> {
  let summary = "ends the call if a call of the runtime has failed";
  let description = [{
    `status` is what a function of the runtime has returned (`pit-runtime/Status.h`). If it
    is 0, what follows runs. Otherwise an entry point returns it to its caller
    (`pit-abi-return-status`), and a function of others hands it to `pit_rt_expect`
    (`pit-abi-expect-status`).

    Example: `pit.check_status %status`
  }];
  let arguments = (ins I32:$status);
  let assemblyFormat = "$status attr-dict";
}

#endif // PIT_DIALECT_PIT_IR_PITHOSTOPS_TD
