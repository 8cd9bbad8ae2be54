//===- PitDialect.td - The pit dialect ---------------------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITDIALECT_TD
#define PIT_DIALECT_PIT_IR_PITDIALECT_TD

include "mlir/IR/OpBase.td"

def Pit_Dialect : Dialect {
  let name = "pit";
  let cppNamespace = "::mlir::pit";
  let summary = "Permutation invariant transformation of dynamically sparse tensor programs";
  let description = [{
    The `pit` dialect describes tensor programs in which some values are mostly
    background (usually zero) in places that are known only at run time.

    A program passes through levels of ordinary IR. At level 1, `pit.sparse`
    marks a value. At level 2, `pit.index` builds the list of live
    *micro-tiles* of that value, the linalg ops that use it carry a
    `#pit.rule`, and whole-tensor `pit.sread` and `pit.swrite` pack values that
    stay packed between ops. At level 3, `pit.forall` and `pit.for` run over
    tiles, `pit.sread` gathers scattered micro-tiles into a dense tile, a linalg
    op computes it, and `pit.swrite` puts the result back where it belongs.

    The method is Permutation Invariant Transformation (PIT, SOSP 2023): if the
    iterations along an axis may run in any order, the live ones can be brought
    together into dense tiles, in whatever order an online index finds them.

    Ops and functions of other dialects carry what passes of pit tell each other. These
    are all of the dialect's discardable attributes:

    | attribute | where | value | made by, read by |
    |---|---|---|---|
    | `pit.rule` | a linalg op | a `#pit.rule` | `pit-plan`; `pit-tile` |
    | `pit.element` | an argument or a result of a function | the integer type, with a sign, that its elements have for callers | `pit-drop-signs`; `pit-abi-prepare` |
    | `pit.device` | a function | `"cuda"`: its tensors are there, and pit has it computed there | `pit-abi-claim-functions`, or a program; `pit-abi-open-frames` |
    | `pit.stream` | an argument of such a function | none: the stream that its work goes to | a program; `pit-abi-open-frames` |
    | `pit.kernels` | a module | none: its functions become kernels. A `gpu.module`: they are kernels of pit | `pit-outline-kernels`; `convert-pit-to-gpu` |
    | `pit.launch_info` | a kernel, a function | a `#pit.launch_info` | `convert-pit-to-gpu`; `convert-pit-launch` |
    | `pit.require` | a function | words of requirements on the shapes of its arguments ([CallingConvention.md](CallingConvention.md)) | `pit-abi-require-shapes`; `pit-abi-prepare` |
    | `pit.manifest` | an entry point | words of its manifest | `pit-abi-prepare`; `pit-abi-emit-wrapper` |
    | `pit.frame` | an argument of a function | none: it is the frame of the call | `pit-abi-prepare`; passes that call the runtime |
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // PIT_DIALECT_PIT_IR_PITDIALECT_TD
