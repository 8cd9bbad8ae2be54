//===- PitAttributes.td - Attributes of the pit dialect ----*- tablegen -*-===//

#ifndef PIT_DIALECT_PIT_IR_PITATTRIBUTES_TD
#define PIT_DIALECT_PIT_IR_PITATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "pit/Dialect/Pit/IR/PitDialect.td"

class Pit_Attr<string name, string attrMnemonic> : AttrDef<Pit_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Source of a selection
//===----------------------------------------------------------------------===//

// The numbers are those of pit_source in pit-runtime/Source.h.
def Pit_SourceValues : I32EnumAttrCase<"Values", 0, "values">;
def Pit_SourceMask : I32EnumAttrCase<"Mask", 1, "mask">;
def Pit_SourceLengths : I32EnumAttrCase<"Lengths", 3, "lengths">;
def Pit_SourceRouting : I32EnumAttrCase<"Routing", 4, "routing">;
def Pit_SourceIndex : I32EnumAttrCase<"Index", 7, "index">;

def Pit_Source : I32EnumAttr<"Source", "what says which elements are selected", [
    Pit_SourceValues, Pit_SourceMask, Pit_SourceLengths, Pit_SourceRouting,
    Pit_SourceIndex]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}
def Pit_SourceAttr : EnumAttr<Pit_Dialect, Pit_Source, "source">;

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

def Pit_ConflictsNone : I32EnumAttrCase<"None", 0, "none">;
def Pit_ConflictsSequential : I32EnumAttrCase<"Sequential", 1, "sequential">;
def Pit_ConflictsAtomic : I32EnumAttrCase<"Atomic", 2, "atomic">;
def Pit_ConflictsTwoPhase : I32EnumAttrCase<"TwoPhase", 3, "two_phase">;

def Pit_ConflictsDisjoint : I32EnumAttrCase<"Disjoint", 4, "disjoint">;
def Pit_ConflictsTwoPhaseRounded
    : I32EnumAttrCase<"TwoPhaseRounded", 5, "two_phase_rounded">;

def Pit_Conflicts : I32EnumAttr<"Conflicts",
    "how groups that write the same outputs are kept apart", [
    Pit_ConflictsNone, Pit_ConflictsSequential, Pit_ConflictsAtomic,
    Pit_ConflictsTwoPhase, Pit_ConflictsDisjoint, Pit_ConflictsTwoPhaseRounded]> {
  let cppNamespace = "::mlir::pit";
  let genSpecializedAttr = 0;
}

def Pit_ConflictsAttr : EnumAttr<Pit_Dialect, Pit_Conflicts, "conflicts">;

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

def Pit_RuleAttr : Pit_Attr<"Rule", "rule"> {
  let summary = "a permutation invariant transformation of one operand of one op";
  let description = [{
    The transformation of a linalg op along one PIT axis, or, on `pit.sparse`,
    what the user insists on; parts left out there are chosen by `pit-plan`.

    - `operand`: number of the marked operand, counted over inputs and then
      inits. Given on linalg ops only: a value may be used twice.
    - `axis`: the dimension of the marked operand along which micro-tiles are
      gathered.
    - `micro_tile`: extent of a micro-tile along each dimension of the marked
      operand: 1 along the axis, `*` for the whole dimension.
    - `tile`: extent of the computed tile along each iteration dimension of the
      op, in the op's order; along the axis it is the number of micro-tiles
      computed at once.
    - `conflicts`: how groups that write the same outputs are kept apart
      (`pit-tile` says what each of them does). With `two_phase_rounded` what a
      group adds is rounded to the result's type before it is added in f32. With
      `disjoint` no two groups list the same id, so they write different outputs:
      a routing with one slot says so, of other indices it is the user's
      promise.

    Example:

    ```mlir
    #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>
    #pit.rule<axis = 0, micro_tile = [1, *]>
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "-1">:$operand,
    DefaultValuedParameter<"int64_t", "-1">:$axis,
    OptionalArrayRefParameter<"int64_t">:$microTile,
    OptionalArrayRefParameter<"int64_t">:$tile,
    DefaultValuedParameter<"Conflicts", "Conflicts::None">:$conflicts);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // PIT_DIALECT_PIT_IR_PITATTRIBUTES_TD
