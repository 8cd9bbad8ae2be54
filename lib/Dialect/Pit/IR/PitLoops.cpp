//===- PitLoops.cpp - pit.forall, pit.for and pit.yield -------------------===//

#include "Verify.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Build, parse and print
//===----------------------------------------------------------------------===//

using BodyBuilder = function_ref<void(OpBuilder &, Location, ValueRange, Value,
                                      Value, ValueRange)>;

template <typename LoopTy>
static void buildLoop(OpBuilder &builder, OperationState &state,
                      ValueRange lower, ValueRange upper,
                      ArrayRef<int64_t> steps, Value index, ValueRange group,
                      int64_t chunk, ValueRange inits, BodyBuilder body) {
  using Properties = typename LoopTy::Properties;
  state.addOperands(lower);
  state.addOperands(upper);
  if (index)
    state.addOperands(index);
  state.addOperands(group);
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  auto &properties = state.getOrAddProperties<Properties>();
  properties.steps = builder.getDenseI64ArrayAttr(steps);
  properties.chunk = builder.getI64IntegerAttr(index ? chunk : 0);
  properties.operandSegmentSizes = {
      static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
      index ? 1 : 0, static_cast<int32_t>(group.size()),
      static_cast<int32_t>(inits.size())};

  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  for (size_t i = 0; i < steps.size(); ++i)
    block->addArgument(builder.getIndexType(), state.location);
  Value ids, positions;
  if (index) {
    auto type = IdsType::get(builder.getContext(), chunk);
    ids = block->addArgument(type, state.location);
    positions = block->addArgument(type, state.location);
  }
  for (Value init : inits)
    block->addArgument(init.getType(), state.location);
  ValueRange arguments(block->getArguments());
  body(builder, state.location, arguments.take_front(steps.size()), ids,
       positions, arguments.take_back(inits.size()));
}

void ForallOp::build(OpBuilder &builder, OperationState &state,
                     ValueRange lower, ValueRange upper,
                     ArrayRef<int64_t> steps, Value index, ValueRange group,
                     int64_t chunk, ValueRange inits, BodyBuilder body) {
  buildLoop<ForallOp>(builder, state, lower, upper, steps, index, group, chunk,
                      inits, body);
}

void ForOp::build(OpBuilder &builder, OperationState &state, ValueRange lower,
                  ValueRange upper, ArrayRef<int64_t> steps, Value index,
                  ValueRange group, int64_t chunk, ValueRange inits,
                  BodyBuilder body) {
  buildLoop<ForOp>(builder, state, lower, upper, steps, index, group, chunk,
                   inits, body);
}

namespace {
/// The parts of a loop that the parser reads before it knows all types.
struct LoopParts {
  /// The body's: induction variables, ids and positions, iter_args.
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, group, inits;
  SmallVector<int64_t> steps;
  std::optional<OpAsmParser::UnresolvedOperand> index;
  Type indexType; ///< a !pit.index
  int64_t chunk = 0;
};
} // namespace

/// ((%i, ..) = (%lower, ..) to (%upper, ..) step (n, ..))?
/// `hasIndex`: an index has to follow.
static ParseResult parseRanges(OpAsmParser &parser, LoopParts &parts,
                               bool &hasIndex) {
  hasIndex = true;
  auto delimiter = OpAsmParser::Delimiter::Paren;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen()))
    return success();
  auto &arguments = parts.arguments;
  auto &lower = parts.lower, &upper = parts.upper;
  auto &steps = parts.steps;
  if (parser.parseArgumentList(arguments) || parser.parseRParen() ||
      parser.parseEqual() || parser.parseOperandList(lower, delimiter) ||
      parser.parseKeyword("to") || parser.parseOperandList(upper, delimiter) ||
      parser.parseKeyword("step") ||
      parser.parseCommaSeparatedList(
          delimiter, [&] { return parser.parseInteger(steps.emplace_back()); }))
    return failure();
  if (lower.size() != arguments.size() || upper.size() != arguments.size() ||
      steps.size() != arguments.size())
    return parser.emitError(loc)
           << arguments.size() << " induction variables, " << lower.size()
           << " lower bounds, " << upper.size() << " upper bounds and "
           << steps.size() << " steps have to be as many";
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  hasIndex = succeeded(parser.parseOptionalComma());
  return success();
}

/// %ids at %pos in %index ([%g, ..])? : type chunk n
static ParseResult parseIndex(OpAsmParser &parser, LoopParts &parts) {
  SMLoc loc = parser.getCurrentLocation();
  OpAsmParser::Argument ids, positions;
  if (parser.parseArgument(ids) || parser.parseKeyword("at") ||
      parser.parseArgument(positions) || parser.parseKeyword("in") ||
      parser.parseOperand(parts.index.emplace()) ||
      parser.parseOperandList(parts.group,
                              OpAsmParser::Delimiter::OptionalSquare) ||
      parser.parseColonType(parts.indexType) || parser.parseKeyword("chunk") ||
      parser.parseInteger(parts.chunk))
    return failure();
  if (!isa<SparsityIndexType>(parts.indexType))
    return parser.emitError(loc)
           << "runs over a !pit.index, not " << parts.indexType;
  auto type = IdsType::getChecked([&] { return parser.emitError(loc); },
                                  parser.getContext(), parts.chunk);
  if (!type)
    return failure();
  ids.type = positions.type = type;
  parts.arguments.append({ids, positions});
  return success();
}

/// (conflicts(how))?
static ParseResult parseConflicts(OpAsmParser &parser, ConflictsAttr &attr) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("conflicts")))
    return success();
  StringRef how;
  if (parser.parseLParen() || parser.parseKeyword(&how) || parser.parseRParen())
    return failure();
  std::optional<Conflicts> conflicts = symbolizeConflicts(how);
  if (!conflicts || *conflicts > Conflicts::TwoPhase)
    return parser.emitError(loc)
           << "conflicts is none, sequential, atomic or two_phase, not " << how;
  attr = ConflictsAttr::get(parser.getContext(), *conflicts);
  return success();
}

/// (iter_args(%a = %init, ..) -> (types))?
static ParseResult parseIterArgs(OpAsmParser &parser, LoopParts &parts,
                                 SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalKeyword("iter_args")))
    return success();
  SmallVector<OpAsmParser::Argument> iterArgs;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(iterArgs, parts.inits) ||
      parser.parseArrowTypeList(types))
    return failure();
  if (iterArgs.size() != types.size())
    return parser.emitError(loc)
           << iterArgs.size() << " iter_args have " << types.size() << " types";
  for (auto [argument, type] : llvm::zip(iterArgs, types))
    argument.type = type;
  parts.arguments.append(iterArgs);
  return success();
}

/// ranges ,? index? conflicts? iter_args? region
template <typename LoopTy>
static ParseResult parseLoop(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type indexType = builder.getIndexType();
  auto &properties = result.getOrAddProperties<typename LoopTy::Properties>();
  SMLoc loc = parser.getCurrentLocation();
  LoopParts parts;
  bool hasIndex;
  if (parseRanges(parser, parts, hasIndex) ||
      (hasIndex && parseIndex(parser, parts)) ||
      parseConflicts(parser, properties.conflicts) ||
      parseIterArgs(parser, parts, result.types))
    return failure();

  if (parser.resolveOperands(parts.lower, indexType, result.operands) ||
      parser.resolveOperands(parts.upper, indexType, result.operands) ||
      (parts.index &&
       parser.resolveOperand(*parts.index, parts.indexType, result.operands)) ||
      parser.resolveOperands(parts.group, indexType, result.operands) ||
      parser.resolveOperands(parts.inits, result.types, loc, result.operands))
    return failure();
  properties.steps = builder.getDenseI64ArrayAttr(parts.steps);
  properties.chunk = builder.getI64IntegerAttr(parts.chunk);
  properties.operandSegmentSizes = {static_cast<int32_t>(parts.lower.size()),
                                    static_cast<int32_t>(parts.upper.size()),
                                    parts.index ? 1 : 0,
                                    static_cast<int32_t>(parts.group.size()),
                                    static_cast<int32_t>(parts.inits.size())};

  Region *body = result.addRegion();
  if (parser.parseRegion(*body, parts.arguments))
    return failure();
  // Without iter_args the terminator may be left out.
  if (result.types.empty())
    LoopTy::ensureTerminator(*body, builder, result.location);
  return parser.parseOptionalAttrDict(result.attributes);
}

template <typename LoopTy>
static void printLoop(OpAsmPrinter &printer, LoopTy loop) {
  if (loop.getNumDense()) {
    printer << " (";
    llvm::interleaveComma(loop.getInductionVars(), printer);
    printer << ") = (" << loop.getLower() << ") to (" << loop.getUpper()
            << ") step (";
    llvm::interleaveComma(loop.getSteps(), printer);
    printer << ')';
    if (loop.getIndex())
      printer << ',';
  }
  if (Value index = loop.getIndex()) {
    printer << ' ' << loop.getIds() << " at " << loop.getPositions() << " in "
            << index;
    if (!loop.getGroup().empty())
      printer << '[' << loop.getGroup() << ']';
    printer << " : " << index.getType() << " chunk " << loop.getChunk();
  }
  if (loop.getConflicts() != Conflicts::None)
    printer << " conflicts(" << stringifyConflicts(loop.getConflicts()) << ')';
  if (!loop.getInitArgs().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(
        llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()), printer,
        [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair);
        });
    printer << ") -> (" << loop.getResultTypes() << ')';
  }
  printer << ' ';
  printer.printRegion(loop.getRegion(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!loop.getInitArgs().empty());
  printer.printOptionalAttrDict(
      loop->getAttrs(),
      {loop.getStepsAttrName(), loop.getChunkAttrName(),
       loop.getConflictsAttrName(), loop.getOperandSegmentSizesAttrName()});
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

template <typename LoopTy> static LogicalResult verifyLoop(LoopTy loop) {
  if (loop.getNumDense() == 0 && !loop.getIndex())
    return violates(loop, "loop 1")
           << "runs over dense ranges, an index or both, and has "
              "neither";
  if (loop.getLower().size() != loop.getNumDense() ||
      loop.getUpper().size() != loop.getNumDense())
    return violates(loop, "loop 2")
           << "has " << loop.getLower().size() << " lower bounds, "
           << loop.getUpper().size() << " upper bounds and "
           << loop.getNumDense() << " steps";
  for (int64_t step : loop.getSteps())
    if (step <= 0)
      return violates(loop, "loop 3") << "step " << step << " is not positive";

  SmallVector<Type> expected(loop.getNumDense(),
                             IndexType::get(loop.getContext()));
  if (Value index = loop.getIndex()) {
    if (loop.getChunk() <= 0)
      return violates(loop, "loop 4")
             << "a chunk has a positive number of ids, not " << loop.getChunk();
    size_t dims =
        cast<SparsityIndexType>(index.getType()).getGroupDims().size();
    if (loop.getGroup().size() != dims)
      return violates(loop, "loop 5")
             << "names a group by " << loop.getGroup().size()
             << " subscripts, the index numbers its groups by " << dims
             << " dimensions";
    expected.append(2, IdsType::get(loop.getContext(), loop.getChunk()));
  } else if (!loop.getGroup().empty()) {
    return violates(loop, "loop 5") << "names a group, but has no index";
  } else if (loop.getChunk() != 0) {
    return violates(loop, "loop 4")
           << "has a chunk of " << loop.getChunk() << " ids, but no index";
  }
  llvm::append_range(expected, loop.getInitArgs().getTypes());
  if (TypeRange(loop.getBody()->getArgumentTypes()) != TypeRange(expected))
    return violates(loop, "loop 6")
           << "body has arguments (" << loop.getBody()->getArgumentTypes()
           << "), expected (" << TypeRange(expected) << ")";
  return success();
}

/// Is `value` the iter_arg `arg` updated by one SWrite, mainloop or scan, or by
/// loops, one after another, that carry it and do the same?
static bool isUpdateOf(Value value, Value arg) {
  if (auto write = value.getDefiningOp<SWriteOp>())
    return write.getDest() == arg;
  if (auto mainloop = value.getDefiningOp<MainloopOp>())
    return mainloop.getDest() == arg;
  if (auto scan = value.getDefiningOp<ScanOp>())
    return scan.getBitmap() == arg;
  if (auto loop = value.getDefiningOp<ForOp>()) {
    unsigned i = cast<OpResult>(value).getResultNumber();
    Value init = loop.getInitArgs()[i];
    return (init == arg ||
            (init.getDefiningOp<ForOp>() && isUpdateOf(init, arg))) &&
           isUpdateOf(loop.getYield().getOperand(i),
                      loop.getRegionIterArgs()[i]);
  }
  return false;
}

LogicalResult ForOp::verifyRegions() { return verifyLoop(*this); }

LogicalResult ForallOp::verifyRegions() {
  if (failed(verifyLoop(*this)))
    return failure();
  for (auto [i, value] : llvm::enumerate(getYield().getOperands()))
    if (!isUpdateOf(value, getRegionIterArgs()[i]))
      return violates(*this, "forall 1")
             << "iter_arg " << i
             << " has to be yielded updated by one pit.swrite, "
                "pit.mainloop or pit.scan into it, or by a pit.for that does "
                "so";
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// A loop that does nothing for its iter_args, and a loop of no trips, are
/// their inits.
template <typename LoopTy> struct EraseIdleLoop : OpRewritePattern<LoopTy> {
  using OpRewritePattern<LoopTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopTy loop,
                                PatternRewriter &rewriter) const override {
    auto noTrips = [](std::tuple<Value, Value> bounds) {
      APInt lower, upper;
      return matchPattern(std::get<0>(bounds), m_ConstantInt(&lower)) &&
             matchPattern(std::get<1>(bounds), m_ConstantInt(&upper)) &&
             lower.sge(upper);
    };
    bool idle = llvm::any_of(llvm::zip_equal(loop.getLower(), loop.getUpper()),
                             noTrips);
    if (!idle) {
      idle =
          isMemoryEffectFree(loop) &&
          llvm::equal(loop.getYield().getOperands(), loop.getRegionIterArgs());
    }
    if (!idle)
      return failure();
    rewriter.replaceOp(loop, loop.getInitArgs());
    return success();
  }
};

/// Drops the results of a loop that nobody uses and whose iter_arg nothing but
/// its own update reads.
template <typename LoopTy> struct DropUnusedResults : OpRewritePattern<LoopTy> {
  using OpRewritePattern<LoopTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopTy loop,
                                PatternRewriter &rewriter) const override {
    unsigned kept = 0;
    BitVector drop(loop.getNumResults());
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      Value arg = loop.getRegionIterArgs()[i];
      Value next = loop.getYield().getOperand(i);
      bool unused = result.use_empty() && (arg.use_empty() || next == arg) &&
                    llvm::all_of(arg.getUsers(), [&](Operation *user) {
                      return user == loop.getYield();
                    });
      if (unused)
        drop.set(i);
      else
        ++kept;
    }
    if (kept == loop.getNumResults())
      return failure();
    SmallVector<Value> inits;
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
      if (!drop[i])
        inits.push_back(init);
    auto slim = LoopTy::create(
        rewriter, loop.getLoc(), loop.getLower(), loop.getUpper(),
        loop.getSteps(), loop.getIndex(), loop.getGroup(), loop.getChunk(),
        inits,
        [](OpBuilder &, Location, ValueRange, Value, Value, ValueRange) {});
    slim.setConflicts(loop.getConflicts());
    slim->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    SmallVector<Value> arguments, results;
    Block *body = slim.getBody();
    unsigned next = 0, fixed = body->getNumArguments() - inits.size();
    for (unsigned i = 0; i < fixed; ++i)
      arguments.push_back(body->getArgument(i));
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
      arguments.push_back(drop[i] ? init : body->getArgument(fixed + next));
      results.push_back(drop[i] ? init : slim.getResult(next));
      next += !drop[i];
    }
    SmallVector<Value> yielded;
    YieldOp yield = loop.getYield();
    for (auto [i, value] : llvm::enumerate(yield.getOperands()))
      if (!drop[i])
        yielded.push_back(value);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
    rewriter.mergeBlocks(loop.getBody(), body, arguments);
    rewriter.replaceOp(loop, results);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Interfaces, the same for both loops
//===----------------------------------------------------------------------===//

#define PIT_DEFINE_LOOP(LoopTy)                                                \
  YieldOp LoopTy::getYield() {                                                 \
    return cast<YieldOp>(getBody()->getTerminator());                          \
  }                                                                            \
  ParseResult LoopTy::parse(OpAsmParser &parser, OperationState &result) {     \
    return parseLoop<LoopTy>(parser, result);                                  \
  }                                                                            \
  void LoopTy::print(OpAsmPrinter &printer) { printLoop(printer, *this); }     \
  void LoopTy::getCanonicalizationPatterns(RewritePatternSet &patterns,        \
                                           MLIRContext *context) {             \
    patterns.add<EraseIdleLoop<LoopTy>, DropUnusedResults<LoopTy>>(context);   \
  }                                                                            \
  SmallVector<Region *> LoopTy::getLoopRegions() { return {&getRegion()}; }    \
  std::optional<SmallVector<Value>> LoopTy::getLoopInductionVars() {           \
    return llvm::to_vector_of<Value>(getInductionVars());                      \
  }                                                                            \
  std::optional<SmallVector<OpFoldResult>> LoopTy::getLoopLowerBounds() {      \
    return getAsOpFoldResult(getLower());                                      \
  }                                                                            \
  std::optional<SmallVector<OpFoldResult>> LoopTy::getLoopUpperBounds() {      \
    return getAsOpFoldResult(getUpper());                                      \
  }                                                                            \
  std::optional<SmallVector<OpFoldResult>> LoopTy::getLoopSteps() {            \
    return getAsIndexOpFoldResult(getContext(), getSteps());                   \
  }                                                                            \
  MutableArrayRef<OpOperand> LoopTy::getInitsMutable() {                       \
    unsigned count = getInitArgs().size();                                     \
    return (*this)->getOpOperands().take_back(count);                          \
  }                                                                            \
  Block::BlockArgListType LoopTy::getRegionIterArgs() {                        \
    return getBody()->getArguments().take_back(getInitArgs().size());          \
  }                                                                            \
  std::optional<MutableArrayRef<OpOperand>>                                    \
  LoopTy::getYieldedValuesMutable() {                                          \
    return getYield()->getOpOperands();                                        \
  }                                                                            \
  std::optional<ResultRange> LoopTy::getLoopResults() { return getResults(); } \
  OperandRange LoopTy::getEntrySuccessorOperands(RegionSuccessor) {            \
    return getInitArgs();                                                      \
  }                                                                            \
  void LoopTy::getSuccessorRegions(                                            \
      RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {          \
    /* Zero trips are possible, and after one trip there may be another. */    \
    regions.emplace_back(&getRegion(), getRegionIterArgs());                   \
    regions.emplace_back(getOperation(), getResults());                        \
  }

PIT_DEFINE_LOOP(ForallOp)
PIT_DEFINE_LOOP(ForOp)

#undef PIT_DEFINE_LOOP

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  if (isa<MainloopOp, ContractOp, PointwiseOp>((*this)->getParentOp()))
    return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
  return getOperandsMutable();
}
