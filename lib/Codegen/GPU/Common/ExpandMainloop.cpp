//===- ExpandMainloop.cpp - A mainloop as loops over tiles ----------------===//
//
//   acc = init(extras)
//   pit.for steps { tiles = pit.sread; acc += linalg.generic(tiles) }
//   result = finish(acc, extras)
//   pit.swrite result, and pit.scan at it
//
//===----------------------------------------------------------------------===//

#include "ExpandMainloop.h"

#include "MainloopSteps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

class Expansion {
public:
  Expansion(RewriterBase &b, MainloopOp mainloop)
      : b(b), mainloop(mainloop), loc(mainloop.getLoc()) {}

  void run();

private:
  Value allocate(ArrayRef<int64_t> shape, Type element) {
    return memref::AllocOp::create(b, loc, MemRefType::get(shape, element));
  }
  Value read(ViewOp view);
  void compute(ValueRange ins, Value out, ArrayRef<AffineMap> maps,
               Block &scalars, ArrayRef<BlockArgument> order, Value yielded);
  void computeElements(Region &region, ValueRange ins, Value out,
                       unsigned result);
  Value start(unsigned number);
  void step(ArrayRef<BlockArgument> arguments, ValueRange values);
  void loopOverSteps();

  SmallVector<Value> mapAll(ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value v) { return mapping.lookupOrDefault(v); });
  }

  RewriterBase &b;
  MainloopOp mainloop;
  Location loc;
  IRMapping mapping; ///< what the regions' values are in the new loops
  SmallVector<Value> sums, extras;
};

} // namespace

Value Expansion::read(ViewOp view) {
  auto type = cast<VectorType>(view.getResult().getType());
  Value tile = allocate(type.getShape(), type.getElementType());
  SReadOp::create(b, loc, /*result=*/Type(),
                  mapping.lookupOrDefault(view.getSrc()),
                  mapAll(view.getSubscripts()), tile, view.getPadAttr(),
                  /*dims=*/DenseI64ArrayAttr());
  return tile;
}

/// A linalg op that computes `yielded` by the code of `scalars`, whose
/// arguments `order` are the elements of `ins` and of `out`.
void Expansion::compute(ValueRange ins, Value out, ArrayRef<AffineMap> maps,
                        Block &scalars, ArrayRef<BlockArgument> order,
                        Value yielded) {
  SmallVector<AffineMap> used = compressUnusedDims(maps);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned d = 0; d < used.back().getNumDims(); ++d)
    iterators.push_back(used.back().isFunctionOfDim(d)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  linalg::GenericOp::create(
      b, loc, ins, out, used, iterators,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        IRMapping elements;
        for (auto [from, to] : llvm::zip(order, arguments))
          elements.map(from, to);
        for (Operation &op : scalars.without_terminator())
          inner.clone(op, elements);
        linalg::YieldOp::create(inner, loc, elements.lookupOrDefault(yielded));
      });
}

/// One of the values that `init` or `finish` computes, for all elements.
void Expansion::computeElements(Region &region, ValueRange ins, Value out,
                                unsigned result) {
  Block &block = region.front();
  int64_t rank = cast<MemRefType>(out.getType()).getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(ins.size() - extras.size(), identity);
  llvm::append_range(maps,
                     mainloop.getExtraMaps().getAsValueRange<AffineMapAttr>());
  maps.push_back(identity);
  compute(ins, out, maps, block, llvm::to_vector(block.getArguments()),
          block.getTerminator()->getOperand(result));
}

/// An accumulator with its first values: the tile of an extra, if these are its
/// elements and nothing else takes them.
Value Expansion::start(unsigned number) {
  Block &init = mainloop.getPrologue().front();
  auto element =
      dyn_cast<BlockArgument>(init.getTerminator()->getOperand(number));
  ArrayRef<int64_t> shape = mainloop.getAccumulatorShape();
  if (element && element.getOwner() == &init && element.hasOneUse()) {
    unsigned extra = element.getArgNumber();
    auto map = cast<AffineMapAttr>(mainloop.getExtraMaps()[extra]).getValue();
    BlockArgument last = mainloop.getEpilogue().getArgument(
        mainloop.getNumAccumulators() + extra);
    if (map.isIdentity() && last.use_empty() &&
        cast<MemRefType>(extras[extra].getType()).getShape() == shape)
      return extras[extra];
  }
  Value sum = allocate(shape, mainloop.getAccumulatorType());
  computeElements(mainloop.getPrologue(), extras, sum, number);
  return sum;
}

/// Emits a step, with `values` in the place of the load region's arguments.
void Expansion::step(ArrayRef<BlockArgument> arguments, ValueRange values) {
  mapping.map(ArrayRef<Value>(arguments.begin(), arguments.end()), values);
  Block &load = mainloop.getLoad().front();
  for (Operation &op : load.without_terminator())
    if (!isa<ViewOp>(op))
      b.clone(op, mapping);
  SmallVector<Value> tiles;
  for (unsigned i = 0; i < mainloop.getNumLoaded(); ++i)
    tiles.push_back(read(mainloop.getLoaded(i)));
  for (unsigned i = 0; i < mainloop.getNumAccumulators(); ++i) {
    ContractOp contract = mainloop.getContraction(i);
    Block &body = contract.getBody().front();
    auto maps =
        llvm::to_vector(contract.getMaps().getAsValueRange<AffineMapAttr>());
    SmallVector<BlockArgument> order(body.getArguments());
    // The sum is the last one of a linalg op.
    std::rotate(maps.begin() + 2, maps.begin() + 3, maps.end());
    std::rotate(order.begin() + 2, order.begin() + 3, order.end());
    SmallVector<Value> ins;
    for (unsigned operand = 0; operand < 2 + mainloop.getNumScales(); ++operand)
      ins.push_back(
          tiles[mainloop.getViewOf(i, operand < 2 ? operand : operand + 1)]);
    compute(ins, sums[i], maps, body, order,
            body.getTerminator()->getOperand(0));
  }
}

void Expansion::loopOverSteps() {
  Block &load = mainloop.getLoad().front();
  ArrayRef<BlockArgument> arguments = load.getArguments();
  size_t loops = mainloop.getSteps().size();
  Value index = mainloop.getIndex();
  if (!loops && !index) {
    step(arguments, {});
    return;
  }
  auto create = [&](ValueRange lower, ValueRange upper, ArrayRef<int64_t> steps,
                    Value index, ValueRange group, int64_t chunk,
                    function_ref<void(ValueRange)> fill) {
    ForOp::create(b, loc, lower, upper, steps, index, group, chunk,
                  /*inits=*/ValueRange(),
                  [&](OpBuilder &inner, Location, ValueRange ivs, Value ids,
                      Value positions, ValueRange) {
                    OpBuilder::InsertionGuard guard(b);
                    b.setInsertionPointToEnd(inner.getInsertionBlock());
                    SmallVector<Value> values(ivs);
                    if (ids)
                      values.append({ids, positions});
                    fill(values);
                    YieldOp::create(b, loc, ValueRange());
                  });
  };
  if (mainloop.getGroups().empty()) {
    create(mainloop.getLower(), mainloop.getUpper(), mainloop.getSteps(), index,
           mainloop.getGroup(), mainloop.getChunk(),
           [&](ValueRange values) { step(arguments, values); });
    return;
  }
  // Each step has a group of its own.
  create(mainloop.getLower(), mainloop.getUpper(), mainloop.getSteps(), Value(),
         ValueRange(), 0, [&](ValueRange ivs) {
           Block &groups = mainloop.getGroups().front();
           mapping.map(groups.getArguments(), ivs);
           for (Operation &op : groups.without_terminator())
             b.clone(op, mapping);
           create({}, {}, {}, index,
                  mapAll(groups.getTerminator()->getOperands()),
                  mainloop.getChunk(), [&](ValueRange ids) {
                    mapping.map(load.getArguments().take_front(loops), ivs);
                    step(arguments.drop_front(loops), ids);
                  });
         });
}

void Expansion::run() {
  assert(mainloop.isProduct() && "a tile body computes more than sums");
  b.setInsertionPoint(mainloop);
  ArrayRef<int64_t> shape = mainloop.getAccumulatorShape();
  for (Value extra : mainloop.getExtras())
    extras.push_back(read(extra.getDefiningOp<ViewOp>()));
  for (unsigned i = 0; i < mainloop.getNumAccumulators(); ++i)
    sums.push_back(start(i));
  loopOverSteps();
  Block &finish = mainloop.getEpilogue().front();
  Value element = finish.getTerminator()->getOperand(0), result = sums.front();
  if (element != finish.getArgument(0)) {
    result = allocate(shape, element.getType());
    SmallVector<Value> ins = sums;
    llvm::append_range(ins, extras);
    computeElements(mainloop.getEpilogue(), ins, result, 0);
  }
  SWriteOp::create(b, loc, result, mainloop.getDest(), mainloop.getSubscripts(),
                   mainloop.getCombine());
  if (Value bits = mainloop.getBitmap())
    ScanOp::create(b, loc, /*result=*/Type(), mainloop.getDest(), bits,
                   mainloop.getSubscripts(), shape,
                   mainloop.getBackgroundAttr());
  eraseMainloop(b, mainloop);
}

void cuda::expandMainloop(RewriterBase &rewriter, MainloopOp mainloop) {
  Expansion(rewriter, mainloop).run();
}
