//===- Mlp.td - A dialect of two ops -----------------------*- tablegen -*-===//

#ifndef MLP_TD
#define MLP_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pit/Dialect/Pit/IR/PitAttributes.td"

def Mlp_Dialect : Dialect {
  let name = "mlp";
  let cppNamespace = "::mlp";
  let summary = "layers of a perceptron";
}

def Mlp_Matrix : 2DTensorOf<[F32]>;

def Mlp_DenseOp : Op<Mlp_Dialect, "dense", [Pure]> {
  let summary = "multiplies rows of activations by weights";
  let arguments = (ins Mlp_Matrix:$input, Mlp_Matrix:$weights);
  let results = (outs Mlp_Matrix:$result);
  let assemblyFormat = "$input `,` $weights attr-dict `:` type($input) `,` type($weights) `->` type($result)";
}

def Mlp_ReluOp : Op<Mlp_Dialect, "relu", [Pure, SameOperandsAndResultType]> {
  let summary = "max(x, 0): what follows gets many zeros";
  let description = [{
    With a `rule` the ops that read the result are computed by it; without one pit
    looks for the best.

    ```mlir
    %1 = mlp.relu %0 rule(#pit.rule<axis = 1, micro_tile = [32, 1]>) : tensor<64x96xf32>
    ```
  }];
  let arguments = (ins Mlp_Matrix:$input, OptionalAttr<Pit_RuleAttr>:$rule);
  let results = (outs Mlp_Matrix:$result);
  let assemblyFormat = "$input (`rule` `(` $rule^ `)`)? attr-dict `:` type($input)";
}

#endif // MLP_TD
