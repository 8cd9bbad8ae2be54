//===- MainloopLowering.cpp - A mainloop to loops over register blocks ----===//
//
//   for chunks of the mainloop's steps
//     pack rows of A, if they do not lie as they are read, and windows
//     for panels of n, for blocks of m
//       for k: sums += A[m, k] * B[k, n]
//
// Sums are in registers along k and in a tile on the stack between chunks. If
// there is one chunk only they begin with `init` and end with `finish`
// right in the block; otherwise both have loops of their own. Steps end where
// ids do, so nothing is computed for absent ones.
//
// Several accumulators take turns in each chunk, or in each block if there is
// one chunk only. `finish` gets the sums of all of them.
//
//===----------------------------------------------------------------------===//

#include "PackOperands.h"

#include "DotOperands.h"
#include "MainloopEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <functional>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Steps of the innermost loop.
static constexpr int64_t kUnroll = 4;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Enters the mainloop's load region for one step.
void MainloopEmitter::enterChunk(ValueRange ivs, const LoopBounds &bounds) {
  Block &load = mainloop.getLoad().front();
  IRMapping mapping;
  if (mainloop.getIndex()) {
    Value first = ivs.back();
    Value start = add(bounds.offset, first);
    Value live = min(sub(bounds.count, first), index(mainloop.getChunk()));
    unsigned ids = load.getNumArguments() - 2;
    chunks[load.getArgument(ids)] = {indices.at(mainloop.getIndex()).ids, start,
                                     live, first};
    chunks[load.getArgument(ids + 1)] = {Value(), start, live, first};
    ivs = ivs.drop_back();
  }
  for (auto [arg, iv] : llvm::zip(load.getArguments(), ivs))
    mapping.map(arg, iv);
  for (Operation &op : load.without_terminator())
    if (auto ids = dyn_cast<IdsOp>(op))
      chunks[ids.getIds()] =
          chunkOf(b, ids, mapping.lookupOrDefault(ids.getList()),
                  llvm::map_to_vector(ids.getSubscripts(), [&](Value v) {
                    return mapping.lookupOrDefault(v);
                  }));
    else if (!isa<ViewOp>(op))
      b.clone(op, mapping);
  forAccumulators([&](Accumulator &own) {
    for (unsigned i = 0; i < 2; ++i) {
      ViewOp tile = view(own, i);
      SmallVector<Value> subscripts;
      for (Value subscript : tile.getSubscripts())
        subscripts.push_back(mapping.lookupOrDefault(subscript));
      own.operands[i] =
          access({mapping.lookupOrDefault(tile.getSrc()), subscripts,
                  cast<VectorType>(tile.getType()).getShape()});
    }
    tabulateRows(own, mainloop.getIndex() ? bounds.count : Value());
  });
}

/// Finds the ids of the group that steps name.
void MainloopEmitter::enterGroup(ValueRange ivs, LoopBounds &bounds) {
  SmallVector<Value> group = clone(mainloop.getGroups().front(), ivs);
  appendIds(b, loc, indices.at(mainloop.getIndex()), group, mainloop.getChunk(),
            bounds);
}

void MainloopEmitter::forChunks(LoopBounds bounds, function_ref<void()> body) {
  SmallVector<Value> ivs;
  std::function<void(unsigned)> nest = [&](unsigned i) {
    if (i == mainloop.getSteps().size() && !mainloop.getGroups().empty() &&
        i == bounds.lower.size())
      enterGroup(ivs, bounds);
    if (i == bounds.lower.size()) {
      enterChunk(ivs, bounds);
      return body();
    }
    auto loop = scf::ForOp::create(b, loc, bounds.lower[i], bounds.upper[i],
                                   bounds.steps[i]);
    ivs.push_back(loop.getInductionVar());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    nest(i + 1);
  };
  nest(0);
}

/// How far the operands go along a dimension of sums.
Value MainloopEmitter::limitOf(Accumulator &own, unsigned dim) {
  if (own.existing && dim == plan.k.back())
    return own.existing;
  Value limit;
  for (unsigned i = 0; i < 2; ++i)
    if (std::optional<unsigned> d = findDim(mainloop.getMap(i), dim)) {
      Value inOperand = own.operands[i].dims[*d].limit;
      limit = limit ? min(limit, inOperand) : inOperand;
    }
  // An operand with windows is packed with all that they read beyond its end.
  return limit ? limit : index(mainloop.getTile()[dim]);
}

/// Packs what the accumulators read in a chunk, if it has to be.
void MainloopEmitter::packOperands() {
  forAccumulators([&](Accumulator &own) {
    packColumnsOfChunk(own);
    if (Accumulator *other = sharesRows(own))
      own.packed = other->packed;
    else if (plan.packA)
      packRowsOfChunk(own);
  });
}

/// Finds the tile of A that was packed before, or packs it.
void MainloopEmitter::packRowsOfChunk(Accumulator &own) {
  if (own.before.tiles.buffer)
    return findTiles(own);
  if (own.before.rows.memref)
    return packTransposedRows(own);
  packRows(b, mainloop, plan,
           {own.operands[plan.a], mainloop.getMap(plan.a), lastOfRows(own)},
           own.packed);
  prefetchNextRows(own);
}

/// Packs a tile of A from what was transposed, or transposes it itself.
void MainloopEmitter::packTransposedRows(Accumulator &own) {
  const TransposedRows &transposed = own.before.rows;
  const TileAccess &tile = own.operands[plan.a];
  AffineMap map = mainloop.getMap(plan.a);
  auto branch = scf::IfOp::create(b, loc, transposed.isProfitable,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  packRows(b, mainloop, plan, {tile, map, transposed.last}, own.packed);
  b.setInsertionPointToStart(branch.thenBlock());
  TileAccess rows{transposed.memref, tile.dims};
  moveLast(rows.dims, transposed.last);
  SmallVector<AffineExpr> results(map.getResults());
  moveLast(results, transposed.last);
  map = AffineMap::get(map.getNumDims(), 0, results, b.getContext());
  auto last = static_cast<unsigned>(rows.dims.size() - 1);
  packRows(b, mainloop, plan, {rows, map, last}, own.packed);
}

BlockSums MainloopEmitter::multiply(Accumulator &own, const SumBlock &block,
                                    BlockSums sums, const StepRange &part) {
  prefetchTile(own, block);
  prefetchNextPanel(own, block);
  SmallVector<Value> k(mainloop.getTile().size());
  std::function<SmallVector<Value>(unsigned, ValueRange)> nest =
      [&](unsigned i, ValueRange carried) -> SmallVector<Value> {
    if (i == plan.k.size())
      return multiplyPoint(own, block, carried, k);
    Value limit = limitOf(own, plan.k[i]);
    auto step = [&](Value at, ValueRange values) {
      k[plan.k[i]] = at;
      return nest(i + 1, values);
    };
    if (i + 1 < plan.k.size())
      return forLoop(index(0), limit, 1, carried, step);
    // Counting steps would cost as much as a row of the block.
    Value from = part.from ? part.from : index(0),
          to = part.to ? part.to : limit;
    Value steps = sub(to, from);
    Value whole = add(from, roundDown(steps, kUnroll));
    SmallVector<Value> sums = forLoop(from, whole, kUnroll, carried,
                                      [&](Value at, ValueRange values) {
                                        SmallVector<Value> result(values);
                                        for (int64_t u = 0; u < kUnroll; ++u)
                                          result = step(add(at, u), result);
                                        return result;
                                      });
    return forLoop(whole, to, 1, sums, step);
  };
  return nest(0, sums);
}

SmallVector<Value> MainloopEmitter::multiplyPoint(Accumulator &own,
                                                  const SumBlock &block,
                                                  ValueRange sums,
                                                  ArrayRef<Value> k) {
  auto withK = [&](SmallVector<Value> at) {
    for (unsigned dim : plan.k)
      at[dim] = k[dim];
    return at;
  };
  AffineMap aMap = mainloop.getMap(plan.a);
  // The work on one operand alone is done once.
  SmallVector<Value> columns;
  prefetchNextSteps(own, block, withK(point(block, 0, 0)));
  VectorType columnType = vectorOf(getElementTypeOrSelf(columnsOf(own)));
  Operation *extendB = getExtension(mainloop, plan.b);
  auto loadRow = [&](int64_t row) {
    columns.clear();
    for (int64_t v = 0; v < block.vectors; ++v)
      columns.push_back(loadColumns(own, columnType, block,
                                    withK(point(block, row, 0)), v,
                                    maskOf(block, v)));
    if (extendB && !own.before.panels.extended && !packsColumns(own))
      for (Value &column : columns)
        column = extend(b, extendB, column);
  };
  loadRow(0);
  Region &compute = mainloop.getContraction().getBody();
  Operation *extendA = getExtension(mainloop, plan.a);
  SmallVector<Value> result;
  Block &body = compute.front();
  Value element;
  for (int64_t row = 0; row < plan.rows; ++row) {
    SmallVector<Value> at = withK(point(block, row, 0));
    if (row > 0 && !plan.wide.empty()) {
      loadRow(row); // of B, which meet one element of A
    } else if (plan.packA) {
      SmallVector<Value> position = positionOf(aMap, at);
      moveLast(position, lastOfRows(own));
      element = memref::LoadOp::create(b, loc, own.packed, position);
    } else {
      element = rowAt(own, at);
      if (extendA)
        element = extend(b, extendA, element);
    }
    element = toVector(element);
    for (int64_t v = 0; v < block.vectors; ++v) {
      IRMapping mapping;
      mapping.map(extendA ? Value(extendA->getResult(0))
                          : Value(body.getArgument(plan.a)),
                  element);
      mapping.map(extendB ? Value(extendB->getResult(0))
                          : Value(body.getArgument(plan.b)),
                  columns[v]);
      mapping.map(body.getArgument(2), sums[row * block.vectors + v]);
      for (Operation &op : body.without_terminator()) {
        if (&op == extendA || &op == extendB)
          continue;
        IRMapping operands;
        bool constant = op.hasTrait<OpTrait::ConstantLike>();
        for (Value operand : op.getOperands())
          operands.map(operand, toVector(mapping.lookupOrDefault(operand)));
        Operation *copy = b.clone(op, operands);
        if (!constant)
          for (OpResult r : copy->getResults())
            r.setType(vectorOf(r.getType()));
        // Products and sums may be fused.
        if (isa<arith::AddFOp, arith::MulFOp>(copy))
          copy->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                        b.getContext(),
                                        cast<arith::ArithFastMathInterface>(op)
                                                .getFastMathFlagsAttr()
                                                .getValue() |
                                            arith::FastMathFlags::contract));
        mapping.map(op.getResults(), copy->getResults());
      }
      result.push_back(toVector(
          mapping.lookupOrDefault(body.getTerminator()->getOperand(0))));
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Do values of a mainloop's init depend on elements that are read?
static bool readsExtras(Region &init) {
  return llvm::any_of(init.getArguments(),
                      [](BlockArgument arg) { return !arg.use_empty(); });
}

/// After so many steps the blocks of a tile take transposes: the panel of B
/// that they meet would leave the first cache.
int64_t MainloopEmitter::partSteps() {
  int64_t row = plan.panel() * elementBytes(mainloop.getAccumulatorType());
  return llvm::bit_floor<uint64_t>(
      std::max<int64_t>(CpuTarget::l1Bytes / row, kUnroll));
}

bool MainloopEmitter::sumsInParts() {
  return plan.m && !plan.dots && !plan.k.empty() &&
         mainloop.getTile()[plan.k.back()] > partSteps();
}

/// Adds the products of a chunk to the tile of sums.
void MainloopEmitter::addProducts(Accumulator &own) {
  auto blocks = [&](const StepRange &part) {
    forBlocks([&](const SumBlock &block) {
      storeSums(own, block,
                multiply(own, block, loadSums(own, block, plan.rows), part));
    });
  };
  if (!sumsInParts())
    return blocks({});
  Value limit = limitOf(own, plan.k.back());
  int64_t part = partSteps();
  forLoop(index(0), limit, part, {}, [&](Value from, ValueRange) {
    blocks({from, min(add(from, part), limit)});
    return SmallVector<Value>();
  });
}

/// Sums between chunks lie by the accumulator's dimensions, lanes last.
MemRefType MainloopEmitter::getSumsType() {
  AffineMap map = getSumsMap(mainloop, plan);
  SmallVector<int64_t> shape;
  for (AffineExpr result : map.getResults())
    shape.push_back(
        mainloop.getTile()[cast<AffineDimExpr>(result).getPosition()]);
  // Vectors and tile registers move whole.
  shape.back() =
      llvm::alignTo(shape.back(), plan.dots ? plan.panel() : plan.lanes);
  if (plan.dots)
    shape[*findDim(map, *plan.m)] =
        llvm::alignTo(mainloop.getTile()[*plan.m], plan.dotRows());
  return MemRefType::get(shape, mainloop.getAccumulatorType());
}

/// Do lanes along iteration dimension `n` lie side by side in a tile?
[[maybe_unused]] static bool hasLanesLast(const TileAccess &tile, AffineMap map,
                                          unsigned n) {
  auto type = cast<MemRefType>(tile.memref.getType());
  return findDim(map, n) == map.getNumResults() - 1 && !tile.dims.back().ids &&
         type.areTrailingDimsContiguous(1);
}

/// Finds the tile's part of C and of what else it reads.
void MainloopEmitter::enterTile() {
  ArrayRef<int64_t> extents = mainloop.getAccumulatorShape();
  dest = access({mainloop.getDest(), mainloop.getSubscripts(), extents});
  limits.resize(mainloop.getTile().size());
  for (auto [d, dim] : llvm::enumerate(dest.dims))
    limits[acc.getDimPosition(d)] = dim.limit;
  if (results) {
    TileDimension lanes = dest.dims[*findDim(acc, plan.n)];
    lanes.start = index(0);
    dest = {results, {dest.dims.back(), lanes}};
    destMap = AffineMap::get(
        acc.getNumDims(), 0,
        {acc.getResults().back(), b.getAffineDimExpr(plan.n)}, b.getContext());
  }
  for (auto [extra, attr] :
       llvm::zip(mainloop.getExtras(), mainloop.getExtraMaps())) {
    auto view = extra.getDefiningOp<ViewOp>();
    if (results && readsResult(mainloop, view)) {
      extras.push_back(dest);
      extraMaps.push_back(destMap);
      continue;
    }
    extras.push_back(access({view.getSrc(), view.getSubscripts(),
                             cast<VectorType>(extra.getType()).getShape()}));
    extraMaps.push_back(cast<AffineMapAttr>(attr).getValue().compose(acc));
  }
  assert((plan.lanes == 1 || plan.transposeC ||
          (hasLanesLast(dest, destMap, plan.n) &&
           llvm::all_of(llvm::zip(extras, extraMaps),
                        [&](auto read) {
                          auto &[extra, map] = read;
                          return !findDim(map, plan.n) ||
                                 hasLanesLast(extra, map, plan.n);
                        }))) &&
         "sums meet extras and results in vectors unless C is transposed");
}

void MainloopEmitter::allocate() {
  forAccumulators([&](Accumulator &own) {
    if (plan.packA && !own.before.tiles.buffer && !sharesRows(own))
      own.packed = onStack(getPackedRowsType(mainloop, plan, lastOfRows(own)));
    if (packsColumns(own) || own.before.panels.isPacked)
      own.packedB =
          onStack(getPackedTileType(mainloop, plan, plan.b, plan.lane));
    if (plan.dots && !own.before.panels.grouped)
      own.packedColumns = onStack(getPackedColumnsType());
    if (rowsByIds(own)) {
      int64_t extent =
          llvm::alignTo(mainloop.getTile()[plan.k.back()], plan.lanes);
      own.rows = onStack(MemRefType::get(extent, b.getIndexType()));
    }
  });
}

void MainloopEmitter::allocateSums() {
  forAccumulators(
      [&](Accumulator &own) { own.sumsTile = onStack(getSumsType()); });
}

bool MainloopEmitter::initsByElements() {
  return plan.transposeC && readsExtras(mainloop.getPrologue());
}

void MainloopEmitter::throughTile(function_ref<void()> addUp) {
  allocateSums();
  if (initsByElements())
    initElements();
  else
    forBlocks([&](const SumBlock &block) {
      forAccumulators([&](Accumulator &own) {
        storeSums(own, block, initial(own, block));
      });
    });
  addUp();
  plan.transposeC ? finishElements() : finishSums();
}

void MainloopEmitter::inOneChunk() {
  auto pack = [&] {
    packOperands();
    forAccumulators(
        [&](Accumulator &own) { own.next = Value(); }); // no chunk follows
  };
  if (sumsInParts())
    return throughTile([&] {
      pack();
      forAccumulators([&](Accumulator &own) { addProducts(own); });
    });
  pack();
  if (plan.transposeC || storesRows())
    allocateSums();
  if (!plan.transposeC)
    return finishBlocks([&](Accumulator &own, const SumBlock &block) {
      return multiply(own, block, initial(own, block));
    });
  if (initsByElements())
    initElements();
  forBlocks([&](const SumBlock &block) {
    forAccumulators([&](Accumulator &own) {
      storeSums(own, block,
                multiply(own, block,
                         initsByElements() ? loadSums(own, block, plan.rows)
                                           : initial(own, block)));
    });
  });
  finishElements();
}

void MainloopEmitter::inManyChunks(const LoopBounds &bounds) {
  throughTile([&] {
    forChunks(bounds, [&] {
      packOperands();
      forAccumulators([&](Accumulator &own) {
        plan.dots ? multiplyDots(own) : addProducts(own);
      });
    });
  });
}

void MainloopEmitter::run() {
  // The stack's memory goes back right after. A memref.alloca_scope would be
  // folded into a loop that it ends, and loops give nothing back.
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value stack = LLVM::StackSaveOp::create(b, loc, pointer);
  allocate();
  enterTile();
  streams = findStreaming();
  prefetchResults();

  LoopBounds bounds = loopBounds(b, mainloop, indices);
  if (plan.dots) {
    inManyChunks(bounds);
  } else if (bounds.lower.empty()) {
    enterChunk({}, bounds);
    inOneChunk();
  } else if (mainloop.getIndex() && mainloop.getSteps().empty()) {
    Value one = compare(arith::CmpIPredicate::sle, bounds.count,
                        index(mainloop.getChunk()));
    auto branch = scf::IfOp::create(b, loc, one, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    enterChunk({index(0)}, bounds);
    inOneChunk();
    b.setInsertionPointToStart(branch.elseBlock());
    inManyChunks(bounds);
    b.setInsertionPointAfter(branch);
  } else {
    inManyChunks(bounds);
  }
  // Streamed stores are ordered by nothing else, other threads may read them.
  if (streams)
    ifThen(streams, [&] {
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
    });
  LLVM::StackRestoreOp::create(b, loc, stack);
}

/// An i1: are all operands packed that are read in place if they are not? Null
/// if that is known.
static Value findWhetherPacked(OpBuilder &b, Location loc,
                               const PackedOperands &operands) {
  Value all;
  for (const PackedFactors &factors : operands.factors) {
    Value isPacked = factors.panels.isPacked;
    if (!factors.panels.inPlace || !isPacked || isPacked == all)
      continue;
    all = all ? ArithEmitter(b, loc).logicalAnd(all, isPacked) : isPacked;
  }
  return all;
}

void cpu::lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                        const PackedOperands &operands, const IndexMap &indices,
                        ChunkMap &chunks) {
  MainloopPlan plan = getPlan(mainloop);
  // In the transposed matrix lanes are neighbours.
  plan.transposeC &= !operands.results;
  auto emit = [&](const PackedOperands &operands) {
    MainloopEmitter(builder, mainloop, plan, operands, indices, chunks).run();
  };
  Value arePacked = findWhetherPacked(builder, mainloop.getLoc(), operands);
  if (!arePacked)
    return emit(operands);
  // A widened operand has another type in its packed form.
  auto branch = scf::IfOp::create(builder, mainloop.getLoc(), arePacked,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  PackedOperands packed = operands, inPlace = operands;
  for (auto [with, without] : llvm::zip(packed.factors, inPlace.factors)) {
    if (!with.panels.inPlace)
      continue;
    with.panels.isPacked = {};
    without.panels = {};
  }
  builder.setInsertionPointToStart(branch.thenBlock());
  emit(packed);
  builder.setInsertionPointToStart(branch.elseBlock());
  emit(inPlace);
}
