//===- PitKernelOps.td - Ops between host and kernels -------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITKERNELOPS_TD
#define PIT_DIALECT_PIT_IR_PITKERNELOPS_TD

// Included by PitOps.td, which defines what is used here.

def Pit_LaunchOp : Pit_Op<"launch", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel on the device";
  let description = [{
    Runs a function of a kernel module (`pit-outline-kernels`) with the inputs
    and then the outputs as its arguments. `iterations` says how many of its
    outermost loop's iterations there may be: one block of threads runs one
    iteration at a time, so that more blocks would have nothing to do.

    On tensors a result is what the kernel makes of an output; on memrefs
    outputs are written in place. Launches run one after another in the order
    of the program, on the stream of the call, and the host does not wait.

    Example:

    ```mlir
    %c = pit.launch @pit_kernels::@f_0 iterations(%n)
           ins(%a, %i : tensor<?x?xf32>, !pit.index<micro_tile = [32, 1], axis = 1>)
           outs(%o : tensor<?x?xf32>) -> (tensor<?x?xf32>)
    ```
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel,
    Index:$iterations,
    Variadic<AnyType>:$inputs,
    Variadic<Pit_TensorOrMemRef>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `iterations` `(` $iterations `)`
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    (`outs` `(` $outs^ `:` type($outs) `)`)?
    attr-dict (`->` `(` type($results)^ `)`)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

#endif // PIT_DIALECT_PIT_IR_PITKERNELOPS_TD
