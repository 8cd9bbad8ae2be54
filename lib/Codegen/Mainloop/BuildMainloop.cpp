//===- BuildMainloop.cpp - The mainloop of contractions -------------------===//

#include "MainloopBuilder.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Builds the mainloop of contractions that differ only in their operands.
class ContractionsBuilder : public MainloopBuilder {
public:
  ContractionsBuilder(OpBuilder &builder, Contractions contractions,
                      const MainloopOutput &output, IRMapping &mapping)
      : MainloopBuilder(builder, sumsOf(contractions), output, mapping),
        contractions(std::move(contractions)) {}

private:
  static Sums sumsOf(const Contractions &contractions) {
    Sums sums{contractions.write, contractions.loops, {}, {}};
    for (const Contraction &contraction : contractions.list) {
      sums.values.push_back(contraction.sum);
      sums.initial.push_back(contraction.initial);
    }
    return sums;
  }

  Refused findExtras() override;
  Refused fillLoad() override;
  Refused fillCompute() override;
  Refused fillInit() override {
    return fillScalars(mainloop.getPrologue(), {}, sums.initial);
  }
  bool takeSum(Value, AffineMap map) override { return map.isIdentity(); }

  RankedTensorType accumulator() {
    return cast<RankedTensorType>(sums.values.front().getType());
  }

  Contractions contractions;
  SmallVector<SReadOp> reads; ///< of the steps: an SRead for each view
};

} // namespace

Refused ContractionsBuilder::findExtras() {
  AffineMap map = builder.getMultiDimIdentityMap(accumulator().getRank());
  auto written = cast<RankedTensorType>(sums.write.getTile().getType());
  if (written.getRank() != map.getNumDims() ||
      llvm::any_of(sums.initial,
                   [&](Value initial) {
                     return failed(collectExtras(initial, {}, map));
                   }) ||
      failed(collectExtras(sums.write.getTile(), sums.values, map)))
    return refuse("what is computed before or after it is not "
                  "element-wise on tiles that are read");
  return {};
}

Refused ContractionsBuilder::fillLoad() {
  SmallVector<Value> ids;
  if (list())
    ids = {innermost().getIds(), innermost().getPositions()};
  if (Refused refused = createSteps(mainloop.getLoad(), sums.loops, ids))
    return refused;
  SmallVector<Value> views;
  for (Contraction &contraction : contractions.list)
    for (SReadOp read : contraction.reads) {
      // An operand of two contractions is loaded once.
      if (views.size() >= 2 && llvm::is_contained(reads, read))
        continue;
      OrRefusal<Value> loaded = createSource(read);
      if (!loaded)
        return loaded.refusal();
      reads.push_back(read);
      views.push_back(*loaded);
    }
  YieldOp::create(builder, loc, views);
  return {};
}

Refused ContractionsBuilder::fillCompute() {
  Block *block = builder.createBlock(&mainloop.getCompute());
  for (Value view : mainloop.getLoad().front().getTerminator()->getOperands())
    block->addArgument(view.getType(), loc);
  auto type =
      VectorType::get(accumulator().getShape(), accumulator().getElementType());
  SmallVector<Value> results;
  for (Contraction &contraction : contractions.list) {
    SmallVector<Value> operands;
    for (auto [i, from] : llvm::enumerate(contraction.reads)) {
      auto *read = llvm::find(reads, from);
      // An op may multiply a tile by itself.
      if (i == 1 && &contraction == &contractions.list.front())
        read = reads.begin() + 1;
      operands.push_back(block->getArgument(read - reads.begin()));
    }
    auto contract = ContractOp::create(
        builder, contraction.op.getLoc(), type, operands[0], operands[1],
        block->addArgument(type, loc), ArrayRef(operands).drop_front(2),
        contractions.tile, builder.getAffineMapArrayAttr(contractions.maps),
        /*tf32=*/false);
    results.push_back(contract.getResult());
    OpBuilder::InsertionGuard guard(builder);
    if (Refused refused =
            fillContraction(contraction.op, contraction.inputs, contract))
      return refused;
  }
  YieldOp::create(builder, loc, results);
  return {};
}

OrRefusal<MainloopOp> mlir::pit::buildMainloop(OpBuilder &builder,
                                               Contractions contractions,
                                               const MainloopOutput &output,
                                               IRMapping &mapping) {
  return ContractionsBuilder(builder, std::move(contractions), output, mapping)
      .build();
}
