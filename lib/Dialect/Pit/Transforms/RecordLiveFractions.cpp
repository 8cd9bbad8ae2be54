//===- RecordLiveFractions.cpp - Programs that record the zeros of marks --===//

#include "Choice/ZeroFacts.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITRECORDLIVEFRACTIONS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// FILE:LINE:COLUMN of a mark; "" if it has none.
static std::string describeLocation(Location loc) {
  std::string text;
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

namespace {
struct RecordLiveFractionsPass
    : pit::impl::PitRecordLiveFractionsBase<RecordLiveFractionsPass> {
  void runOnOperation() override {
    SmallVector<SparseOp> marks;
    getOperation().walk([&](SparseOp mark) {
      if (mark.getLabel() && mark.getSource() != Source::Index)
        marks.push_back(mark);
    });
    OpBuilder builder(&getContext());
    for (SparseOp mark : marks) {
      builder.setInsertionPointAfter(mark);
      Location loc = mark.getLoc();
      SmallVector<Value> shape;
      if (mark.getSource() == Source::Lengths ||
          mark.getSource() == Source::Routing)
        for (OpFoldResult size :
             tensor::getMixedSizes(builder, loc, mark.getInput()))
          shape.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
      bool isValues = mark.getSource() == Source::Values;
      RecordOp::create(builder, loc, mark.getSource(),
                       isValues ? mark.getInput() : mark.getSelector(), shape,
                       isValues ? mark.getBackgroundAttr() : TypedAttr(),
                       *mark.getLabel(), getSignature(mark),
                       describeLocation(loc));
    }
  }
};
} // namespace
