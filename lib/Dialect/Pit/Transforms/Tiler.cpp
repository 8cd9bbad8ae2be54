//===- Tiler.cpp - The loops of a tiled op --------------------------------===//

#include "Tiler.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::pit;

/// Elements of a result that an iteration of the second of two phases adds up:
/// four for each thread of a GPU's block.
static constexpr int64_t kPartTile = 1024;
/// A multiple of what starts a line of memory: 128 bytes of f32.
static constexpr int64_t kPartAlign = 32;

void Tiler::run() {
  rewriter.setInsertionPoint(op);
  zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  classify();
  findEpilogues();
  body = buildTileBody(
      rewriter, op, [&](unsigned d) { return isInner(d); },
      [&](unsigned number) { return isOne(number); });
  choosePads();
  if (!concurrentDims().empty())
    conflicts = rule.getConflicts();
  resolveOperands();
  ranges();
  start();
  SmallVector<Value> results = hasTwoPhases() ? twoPhases() : parallelLoop();
  finish(results);
}

void Tiler::findEpilogues() {
  std::optional<Packing> written =
      mark ? getWrittenPacking(op) : std::optional<Packing>();
  if (!written)
    return;
  epilogues = findSelectedEpilogues(getOutcome(op), *written);
  // Ops that have a rule still have loops of their own.
  if (epilogues && llvm::any_of(epilogues->operands, [](OpOperand *operand) {
        return operand->getOwner()->hasAttr(kRuleAttrName);
      }))
    epilogues.reset();
}

void Tiler::classify() {
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    int64_t extent = op.getStaticLoopRanges()[d];
    single.push_back(d != axis && isSingleTile(op, d, tile[d]));
    // A single group conflicts with none.
    bool conflicts = !single[d] && isConflicting(op, rule, indexType, d);
    kinds.push_back(d == axis             ? Kind::Axis
                    : conflicts           ? Kind::Conflicting
                    : isReducedDim(op, d) ? Kind::Reduced
                                          : Kind::Parallel);
    // A tile need not be larger than the dim.
    if (single.back() && !whole)
      tile[d] = extent;
  }
  groups = index && !indexType.getGroupDims().empty();
}

bool Tiler::isInner(unsigned d) {
  return isReducedDim(op, d) && (kinds[d] != Kind::Conflicting || tile[d] > 1);
}

SmallVector<unsigned> Tiler::loopsOf(Kind kind) {
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (kinds[d] == kind && !single[d])
      dims.push_back(d);
  return dims;
}

SmallVector<unsigned> Tiler::concurrentDims() {
  SmallVector<unsigned> dims;
  if (rule.getConflicts() <= Conflicts::Sequential)
    return dims;
  for (unsigned d : loopsOf(Kind::Conflicting)) {
    if (!peeled[d])
      dims.push_back(d);
    else if (rule.getConflicts() != Conflicts::Atomic)
      return {};
  }
  return dims;
}

SmallVector<Value> Tiler::groupSubscripts() {
  llvm::SaveAndRestore around(starts);
  for (auto [d, group] : llvm::enumerate(lastGroup))
    if (group)
      starts[d] = group;
  return llvm::map_to_vector(indexType.getGroupDims(), [&](int64_t d) {
    return subscript(markedMap.getResult(d));
  });
}

template <typename LoopTy>
SmallVector<Value> Tiler::loop(ArrayRef<unsigned> dims, bool overIds,
                               ValueRange lower, ValueRange upper,
                               ValueRange args, Body body) {
  SmallVector<int64_t> steps;
  for (unsigned d : dims)
    steps.push_back(tile[d]);
  steps.resize(lower.size(), 1);
  llvm::SaveAndRestore around(starts);
  SmallVector<Value> group = overIds ? groupSubscripts() : SmallVector<Value>();
  OpBuilder::InsertionGuard guard(rewriter);
  return LoopTy::create(rewriter, loc, lower, upper, steps,
                        overIds ? index : Value(), group,
                        overIds ? tile[*axis] : 0, args,
                        [&](OpBuilder &, Location, ValueRange ivs, Value chunk,
                            Value places, ValueRange carried) {
                          for (auto [d, iv] : llvm::zip(dims, ivs))
                            starts[d] = iv;
                          if (overIds) {
                            ids = chunk;
                            positions = places;
                          }
                          SmallVector<Value> next = body(carried);
                          YieldOp::create(rewriter, loc, next);
                        })
      .getResults();
}

template <typename LoopTy>
SmallVector<Value> Tiler::loop(ArrayRef<unsigned> dims, bool overIds,
                               ValueRange args, Body body) {
  SmallVector<Value> lower(dims.size(), zero), upper;
  for (unsigned d : dims)
    upper.push_back(extents[d]);
  if (dims.empty() && !overIds) {
    // One iteration.
    lower.push_back(zero);
    upper.push_back(arith::ConstantIndexOp::create(rewriter, loc, 1));
  }
  return loop<LoopTy>(dims, overIds, lower, upper, args, body);
}

SmallVector<Value> Tiler::parallelLoop() {
  SmallVector<unsigned> dims = loopsOf(Kind::Parallel);
  // Chunks of a single group are tiles like any other. If groups are numbered
  // by dims, their loops come first.
  bool overIds = isAxisParallel() && !groups;
  auto inside = [&](ValueRange carried) {
    return overIds ? tileResults(carried) : conflictLoops(carried);
  };
  // Concurrent groups come last: those that run at the same time read and write
  // the same part of the outputs, while it is in a cache.
  llvm::append_range(dims, concurrentDims());
  SmallVector<Value> results = forall(dims, overIds, initial, inside);
  if (conflicts == Conflicts::Atomic)
    results.front().getDefiningOp<ForallOp>().setConflicts(conflicts);
  return results;
}

SmallVector<Value> Tiler::forall(ArrayRef<unsigned> dims, bool overIds,
                                 ValueRange args, Body body) {
  if (dims.empty() && !overIds && !kernels && !epilogues)
    return body(args);
  return loop<ForallOp>(dims, overIds, args, body);
}

SmallVector<Value> Tiler::twoPhases() {
  SmallVector<Value> outputs = initial;
  for (unsigned r = 0; r < outputs.size(); ++r)
    initial[r] = emptyParts(r);
  SmallVector<Value> parts = parallelLoop();
  // A tile of the second loop is of one id: its list is a group of the
  // transpose.
  Value transpose = TransposeIndexOp::create(rewriter, loc, index);
  SmallVector<unsigned> dims = {*axis};
  llvm::append_range(dims, widenParts());
  auto addLists = [&](ValueRange carried) {
    ids = starts[*axis];
    SmallVector<Value> results;
    for (unsigned r = 0; r < carried.size(); ++r) {
      Value sum = addPartials(r, parts[r], transpose);
      results.push_back(SWriteOp::create(rewriter, loc, sum, carried[r],
                                         subscripts(initMap(r)))
                            .getResult());
    }
    return results;
  };
  return forall(dims, /*overIds=*/false, outputs, addLists);
}

SmallVector<unsigned> Tiler::widenParts() {
  tile[*axis] = 1;
  int64_t room = kPartTile;
  // The last dims of a result lie closest in memory.
  for (AffineExpr expr : llvm::reverse(initMap(0).getResults())) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    if (kinds[d] != Kind::Parallel)
      continue;
    int64_t extent = op.getStaticLoopRanges()[d];
    if (ShapedType::isDynamic(extent))
      tile[d] = std::min(tile[d], room);
    else if (extent <= room)
      tile[d] = std::max<int64_t>(extent, 1);
    else // as even as lines of memory allow
      tile[d] = std::min<int64_t>(
          room, llvm::alignTo(
                    llvm::divideCeil(extent, llvm::divideCeil(extent, room)),
                    kPartAlign));
    single[d] = isSingleTile(op, d, tile[d]);
    room = std::max<int64_t>(room / tile[d], 1);
  }
  return loopsOf(Kind::Parallel);
}

SmallVector<Value> Tiler::conflictLoops(ValueRange args) {
  auto overGroup = [&](ValueRange carried) {
    if (!isAxisParallel())
      return tileResults(carried);
    return loop<ForOp>({}, /*overIds=*/true, carried,
                       [&](ValueRange inner) { return tileResults(inner); });
  };
  SmallVector<unsigned> parallel = concurrentDims(), dims;
  for (unsigned d : loopsOf(Kind::Conflicting))
    if (!llvm::is_contained(parallel, d))
      dims.push_back(d);
  return nest(dims, args, overGroup);
}

SmallVector<Value> Tiler::tileResults(ValueRange carried) {
  SmallVector<Value> outer, sums;
  for (unsigned r = 0; r < carried.size(); ++r) {
    outer.push_back(accumulator(r, carried[r]));
    if (!body.epilogue.op) {
      sums.push_back(outer.back());
      continue;
    }
    sums.push_back(filled(r, rewriter.getZeroAttr(body.accumulators[r])));
  }
  SmallVector<unsigned> dims = loopsOf(Kind::Reduced);
  sums = reducedLoops(dims, sums);
  if (body.epilogue.op) {
    SmallVector<Value> inputs;
    for (unsigned number : body.epilogue.inputs)
      inputs.push_back(readInput(number));
    llvm::append_range(inputs, sums);
    sums = cloneTile(body.epilogue, inputs, outer);
  }
  SmallVector<Value> results;
  for (unsigned r = 0; r < carried.size(); ++r)
    results.push_back(write(r, sums[r], carried[r]));
  return results;
}

SmallVector<Value> Tiler::reducedLoops(ArrayRef<unsigned> dims,
                                       ValueRange args) {
  return nest(dims, args, [&](ValueRange inner) {
    if (!isAxisReduced())
      return compute(inner);
    return loop<ForOp>({}, /*overIds=*/true, inner,
                       [&](ValueRange carried) { return compute(carried); });
  });
}

SmallVector<Value> Tiler::nest(ArrayRef<unsigned> dims, ValueRange args,
                               Body body) {
  if (dims.empty())
    return body(args);
  if (llvm::none_of(dims, [&](unsigned d) { return peeled[d]; }))
    return loop<ForOp>(dims, /*overIds=*/false, args, body);
  unsigned d = dims.front();
  auto inside = [&](ValueRange carried) {
    return nest(dims.drop_front(), carried, body);
  };
  if (!peeled[d])
    return loop<ForOp>(d, /*overIds=*/false, args, inside);
  // Full tiles, then what is left, element by element, in the last group.
  AffineExpr extent = getAffineDimExpr(0, op->getContext());
  Value full = affine::AffineApplyOp::create(
      rewriter, loc, AffineMap::get(1, 0, extent - extent % tile[d]),
      extents[d]);
  SmallVector<Value> sums =
      loop<ForOp>(d, /*overIds=*/false, zero, full, args, inside);
  llvm::SaveAndRestore one(tile[d], int64_t(1));
  llvm::SaveAndRestore last(lastGroup[d], full);
  return loop<ForOp>(d, /*overIds=*/false, full, extents[d], sums, inside);
}

SmallVector<Value> Tiler::compute(ValueRange accumulators) {
  SmallVector<Value> inputs;
  for (unsigned number : body.inner.inputs)
    inputs.push_back(readInput(number));
  return cloneTile(body.inner, inputs, accumulators);
}

/// `map` without the results that are `dropped`.
static AffineMap dropResults(AffineMap map, ArrayRef<bool> dropped) {
  llvm::SmallBitVector positions(map.getNumResults());
  for (auto [d, drop] : llvm::enumerate(dropped))
    positions[d] = drop;
  return map.dropResults(positions);
}

SmallVector<Value> Tiler::cloneTile(const TileTemplate &from, ValueRange inputs,
                                    ValueRange inits) {
  linalg::LinalgOp clone =
      cloneOntoTile(rewriter, from.op, inputs, inits, starts);
  if (clone.hasIndexSemantics())
    return llvm::to_vector_of<Value>(clone->getResults());
  // Named ops have maps by the ranks of their operands, which may have changed.
  linalg::LinalgOp whole = from.op;
  SmallVector<AffineMap> maps = whole.getIndexingMapsArray(), old(maps);
  for (auto [i, number] : llvm::enumerate(from.inputs))
    if (isInputSlim(number))
      maps[i] = dropResults(maps[i], groupDimsOf(op.getMatchingIndexingMap(
                                         &op->getOpOperand(number))));
  // The epilogue has its sum as the last input.
  bool isEpilogue = inputs.size() > from.inputs.size();
  for (unsigned r = 0; r < inits.size(); ++r)
    if (isResultSlim(r)) {
      SmallVector<bool> dropped = groupDimsOf(initMap(r));
      maps[inputs.size() + r] = dropResults(maps[inputs.size() + r], dropped);
      if (isEpilogue)
        maps[from.inputs.size()] =
            dropResults(maps[from.inputs.size()], dropped);
    }
  // Dims that results lack and that are no reductions of more than one element
  // are those of groups, 1 long. A reduction stays a contraction with them;
  // else they are 0.
  bool reduces = !isEpilogue && whole.getNumReductionLoops() > 0;
  SmallVector<utils::IteratorType> iterators = whole.getIteratorTypesArray();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < whole.getNumLoops(); ++d) {
    bool inResult = maps.back().isFunctionOfDim(d);
    if (!inResult && reduces)
      iterators[d] = utils::IteratorType::reduction;
    dims.push_back(inResult || reduces
                       ? getAffineDimExpr(d, op->getContext())
                       : getAffineConstantExpr(0, op->getContext()));
  }
  for (AffineMap &map : maps)
    map = map.replaceDimsAndSymbols(dims, {}, dims.size(), 0);
  if (maps == old)
    return llvm::to_vector_of<Value>(clone->getResults());
  llvm::SmallBitVector unused = getUnusedDimsBitVector(maps);
  SmallVector<utils::IteratorType> used;
  for (auto [d, iterator] : llvm::enumerate(iterators))
    if (!unused[d])
      used.push_back(iterator);
  for (AffineMap &map : maps)
    map = compressDims(map, unused);
  auto generic = linalg::GenericOp::create(rewriter, loc, inits.getTypes(),
                                           inputs, inits, maps, used);
  generic.getRegion().takeBody(clone->getRegion(0));
  rewriter.eraseOp(clone);
  return llvm::to_vector_of<Value>(generic.getResults());
}

void Tiler::finish(ArrayRef<Value> results) {
  for (auto [r, result] : llvm::enumerate(results)) {
    Value value = result, old = op->getResult(r);
    if (packedResults[r]) {
      for (Operation *user : llvm::make_early_inc_range(outcome(r).getUsers()))
        rewriter.replaceOp(user, value);
      if (markedResult)
        rewriter.eraseOp(mark);
      continue;
    }
    if (value.getType() != old.getType())
      value = convert(value, getElementTypeOrSelf(old.getType()));
    auto isPlanned = [](Operation *user) {
      return user->hasAttr(kRuleAttrName);
    };
    if (!markedResult)
      rewriter.replaceAllUsesWith(old, value);
    else if (llvm::none_of(mark->getUsers(), isPlanned))
      rewriter.replaceOp(mark, value);
    else // ops to come gather by the same mark
      rewriter.modifyOpInPlace(mark, [&] {
        mark.getInputMutable().assign(value);
        mark.setAssume(true);
      });
  }
  rewriter.eraseOp(op);
  // Else the marks are lowered later.
  if (epilogues)
    if (auto loop = results.front().getDefiningOp<ForallOp>())
      fuseSelectedEpilogues(rewriter, loop, *epilogues);
  for (Operation *scaffold : llvm::reverse(body.scaffolding))
    rewriter.eraseOp(scaffold);
}
