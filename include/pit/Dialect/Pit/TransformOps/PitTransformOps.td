//===- PitTransformOps.td - Ops of transform scripts -------*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_TD
#define PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pit/Dialect/Pit/IR/PitAttributes.td"

class Pit_TransformOp<string mnemonic, list<Trait> traits>
    : Op<Transform_Dialect, "pit." # mnemonic, traits>;

/// Changes each of the handle's ops, which are of a class, and keeps the handle.
class Pit_EachOp<string mnemonic, string target, list<Trait> traits = []>
    : Pit_TransformOp<mnemonic, !listconcat(
        [TransformOpInterface, TransformEachOpTrait,
         DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        }] # target # [{ target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::mlir::transform::onlyReadsHandle(getTargetMutable(), effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

def PitInferOp : Pit_TransformOp<"infer", [
    DeclareOpInterfaceMethods<TransformOpInterface>,
    NavigationTransformOpTrait, MemoryEffectsOpInterface]> {
  let summary = "asks along which dims an operand may be packed";
  let description = [{
    For each linalg op of the handle, one after another, the dims of its operand
    number `operand` that a PIT axis indexes, as parameters, if what the operand's
    mark does not select may be skipped. Without `operand` it is the first operand with a mark. An
    operand without one is taken to have zeros.

    Nothing is changed. If there is no such dim, the op fails silenceably with the
    condition of docs/Legality.md that is not fulfilled.

    Example:

    ```mlir
    %dims = transform.pit.infer %matmul operand(0) : (!transform.any_op) -> !transform.param<i64>
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       OptionalAttr<I64Attr>:$operand);
  let results = (outs TransformParamTypeInterface:$dims);
  let assemblyFormat = [{
    $target (`operand` `(` $operand^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def PitPlanOp : Pit_EachOp<"plan", "::mlir::linalg::LinalgOp"> {
  let summary = "gives marked linalg ops a rule and an index";
  let description = [{
    Plans the linalg ops of the handle alone, as `pit-plan` does (level 1 to level
    2). With `rule` that rule is carried out; the rest is chosen. Without
    it the best one is chosen, as with `choice=now`. `machine` is the option
    `target` of the pass, whose table of tile sizes counts.

    If the op cannot have the rule, or no rule at all, the op fails silenceably and
    nothing is changed: try another one, by `transform.alternatives`.

    Example:

    ```mlir
    transform.pit.plan %matmul rule(<axis = 1, micro_tile = [32, 1]>) machine("avx2") : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       OptionalAttr<Pit_RuleAttr>:$rule,
                       DefaultValuedAttr<StrAttr, "\"avx512\"">:$machine);
  let assemblyFormat = [{
    $target (`rule` `(` $rule^ `)`)? (`machine` `(` $machine^ `)`)? attr-dict
    `:` type($target)
  }];
}

def PitFoldOp : Pit_EachOp<"fold", "::mlir::func::FuncOp", [
    ReportTrackingListenerFailuresOpTrait]> {
  let summary = "keeps values packed between planned ops";
  let description = [{
    Folds in the functions of the handle, as `pit-fold` does (level 2).

    Example:

    ```mlir
    transform.pit.fold %func : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def PitTileOp : Pit_TransformOp<"tile", [
    DeclareOpInterfaceMethods<TransformOpInterface>,
    FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface,
    ReportTrackingListenerFailuresOpTrait]> {
  let summary = "makes loops over tiles of planned linalg ops";
  let description = [{
    Tiles the linalg ops of the handle alone, as `pit-tile` does (level 2 to level
    3). The results are the `pit.forall` loops that it makes, of all ops, one after
    another. Whole-tensor `pit.sread` and `pit.swrite` of a function become loops
    when none of its ops is planned any more.

    An op without a rule, or whose rule it cannot have, fails silenceably.

    Example:

    ```mlir
    %loops = transform.pit.tile %matmul : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       UnitAttr:$kernels);
  let results = (outs TransformHandleTypeInterface:$loops);
  let assemblyFormat = [{
    $target (`kernels` $kernels^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def PitFuseOp : Pit_EachOp<"fuse", "::mlir::pit::ForallOp", [
    ReportTrackingListenerFailuresOpTrait]> {
  let summary = "computes the element-wise ops after a loop on its tiles";
  let description = [{
    Fuses into the `pit.forall` loops of the handle, as `pit-fuse-epilogues` does. Fails
    silenceably if there is no op that could be fused.

    Example:

    ```mlir
    transform.pit.fuse %loops : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def PitLowerOp : Pit_EachOp<"lower", "::mlir::Operation *", [
    ReportTrackingListenerFailuresOpTrait]> {
  let summary = "lowers the marks that no op uses to dense ops";
  let description = [{
    The op does for the marks in the ops of the handle what `pit-lower-marks` does for a
    function. All after it, level 4 and below, takes bufferization and whole modules: the
    pipelines, by `transform.apply_registered_pass` or after the script.

    Example:

    ```mlir
    transform.pit.lower %func : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

#endif // PIT_DIALECT_PIT_TRANSFORMOPS_PITTRANSFORMOPS_TD
