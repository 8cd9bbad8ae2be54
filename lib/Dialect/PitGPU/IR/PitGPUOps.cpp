//===- PitGPUOps.cpp - Ops of the pit_gpu dialect -------------------------===//

#include "Verify.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

/// The type that sums of products have.
static Type sumTypeOf(Type element) {
  return element.isInteger(8) ? Type(IntegerType::get(element.getContext(), 32))
                              : Type(Float32Type::get(element.getContext()));
}

/// The factors' elements say what type sums have.
static ParseResult parseSumTypes(OpAsmParser &parser, TypeAttr &element,
                                 ArrayRef<OpAsmParser::UnresolvedOperand> sums,
                                 SmallVectorImpl<Type> &types,
                                 SmallVectorImpl<Type> &results) {
  Type type;
  if (parser.parseType(type))
    return failure();
  element = TypeAttr::get(type);
  types.assign(sums.size(), sumTypeOf(type));
  results.assign(types.begin(), types.end());
  return success();
}
static void printSumTypes(OpAsmPrinter &printer, Operation *, TypeAttr element,
                          OperandRange, TypeRange, TypeRange) {
  printer << element.getValue();
}

#define GET_OP_CLASSES
#include "pit/Dialect/PitGPU/IR/PitGPUOps.cpp.inc"

/// Arrivals and bytes that an mbarrier counts.
static constexpr int64_t kMaxCount = 1048575;
/// No place in shared memory lies so far.
static constexpr uint64_t kMaxPlace = 1 << 24;
/// Rows, columns and bands of tiles.
static constexpr int64_t kMaxStep = 65536;

bool pitgpu::isCluster(int64_t blocks) {
  return blocks == 1 || blocks == 2 || blocks == 4 || blocks == 8;
}

bool pitgpu::hasUnitRows(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return strides.back() == 1;
}

Type pitgpu::tileOf(Operation *op, StringRef constraint, StageType stage,
                    int64_t number) {
  int64_t count = stage.getTiles().size();
  if (number >= 0 && number < count)
    return stage.getTiles()[number];
  violates(op, constraint) << "there is no tile " << number << " in a stage of "
                           << count;
  return {};
}

LogicalResult pitgpu::verifyInRole(Operation *op) {
  if (RolesOp::of(op).first)
    return success();
  return violates(op, "roles 4")
         << "there is no role around it; a pit_gpu.roles has roles";
}

//===----------------------------------------------------------------------===//
// The contents of a kernel
//===----------------------------------------------------------------------===//

LogicalResult TensorMapOp::verify() {
  auto argument = dyn_cast<BlockArgument>(getSource());
  auto kernel =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  // Shared memory of a kernel is an argument of its first block, too.
  if (!kernel || !argument.getOwner()->isEntryBlock() ||
      argument.getArgNumber() >= kernel.getNumArguments())
    return violates(*this, "tensor_map 1")
           << "the memref is no argument of the kernel; the host describes "
              "arguments only";
  auto source = cast<MemRefType>(getSource().getType());
  TensorMapType map = getType();
  if (source.getRank() != static_cast<int64_t>(map.getBox().size()) ||
      source.getElementType() != map.getElementType())
    return violates(*this, "tensor_map 2")
           << "boxes of " << map << " do not describe a " << source;
  if (!hasUnitRows(source))
    return violates(*this, "tensor_map 3")
           << "elements of a row of " << source
           << " do not lie side by side, as TMA reads them";
  int64_t rank = source.getRank(), alongK = getAlongK().value_or(0);
  SmallVector<int64_t> order(getOrder().value_or(ArrayRef<int64_t>()));
  llvm::sort(order);
  if (alongK < 0 || alongK >= rank ||
      (getOrder() && !llvm::equal(order, llvm::seq<int64_t>(0, rank))))
    return violates(*this, "tensor_map 4")
           << "dimension " << alongK << " and an order of " << order.size()
           << " dimensions; each of the " << rank << " once is right";
  return success();
}

LogicalResult RingOp::verify() {
  int64_t full = getFull(), empty = getEmpty();
  if (full < 1 || full > kMaxCount || empty < 0 || empty > kMaxCount)
    return violates(*this, "ring 1")
           << "a stage is full after " << full << " and empty after " << empty
           << " arrivals; from 1 and from 0 to " << kMaxCount << " is right";
  if (!isCluster(getCluster()))
    return violates(*this, "ring 4") << "a cluster of " << getCluster()
                                     << " blocks; 1, 2, 4 or 8 is right";
  uint64_t stages = getOffset().value_or(0),
           barriers = getBarriers().value_or(0);
  bool isInTensorMemory = getType().isInTensorMemory();
  int64_t multiple = isInTensorMemory ? 1 : kSwizzleRepeat;
  uint64_t most = isInTensorMemory ? kTensorColumns : kMaxPlace;
  if (getOffset().has_value() != getBarriers().has_value() ||
      stages % multiple || barriers % 8 || stages >= most ||
      barriers >= kMaxPlace)
    return violates(*this, "ring 2")
           << "stages at " << static_cast<int64_t>(stages) << ", barriers at "
           << static_cast<int64_t>(barriers) << "; a multiple of " << multiple
           << " below " << most << " and one of 8 below " << kMaxPlace
           << ", or neither is right";
  for (Operation *op = (*this)->getParentOp(); op; op = op->getParentOp())
    if (isa<RolesOp, TilesOp, LoopLikeOpInterface>(op))
      return violates(*this, "ring 3")
             << "it is in a " << op->getName()
             << "; all threads run it, once, before their roles begin";
  if (getType().getOfBlock())
    return violates(*this, "ring 5")
           << "a ring of the block; pit_gpu.block_ring makes it";
  return success();
}

LogicalResult BlockRingOp::verify() {
  if (!getType().getOfBlock() || RolesOp::of(*this).first)
    return violates(*this, "block_ring 1")
           << (getType().getOfBlock() ? "it is in a role"
                                      : "a ring that roles share")
           << "; one of the block, where all threads are, is right";
  for (Operation *user : (*this)->getUsers())
    if (!isa<AcquireOp, WaitOp>(user))
      return violates(*this, "block_ring 1")
             << "a " << user->getName() << " takes it; acquire and wait alone "
             << "are followed";
  return verifyProtocol(*this);
}

LogicalResult SharedOp::verify() {
  int64_t bytes = getBytes(), place = getOffset().value_or(0);
  if (bytes < 1 || bytes >= static_cast<int64_t>(kMaxPlace) || place < 0 ||
      place >= static_cast<int64_t>(kMaxPlace))
    return violates(*this, "shared 1")
           << bytes << " bytes at " << place << "; 1 to " << kMaxPlace - 1
           << " below " << kMaxPlace << " are right";
  return success();
}

std::pair<RolesOp, unsigned> RolesOp::of(Operation *op) {
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (auto roles = dyn_cast_or_null<RolesOp>(region->getParentOp()))
      return {roles, region->getRegionNumber()};
  return {RolesOp(), 0};
}

int64_t RolesOp::getThreads() {
  int64_t threads = 0;
  for (int64_t count : getWarps())
    threads += 32 * count;
  return threads;
}

std::pair<SmallVector<RolesOp::Barriers>, int64_t> RolesOp::getBarriers() {
  SmallVector<Barriers> barriers;
  int64_t next = 1;
  for (auto [body, warps] : llvm::zip(getBodies(), getWarps())) {
    int64_t groups = warps / 4;
    bool hasHandOvers = false, syncsGroups = false, syncsAll = false;
    body.walk([&](Operation *op) {
      hasHandOvers |= groups > 1 && isa<HandOverOp>(op);
      auto sync = dyn_cast<SyncOp>(op);
      if (!sync || sync.getScope() == SyncScope::Warp)
        return;
      bool ofGroup = sync.getScope() == SyncScope::Warpgroup || groups == 1;
      (ofGroup ? syncsGroups : syncsAll) = true;
    });
    auto take = [&](bool takes, int64_t count) {
      int64_t first = next;
      next += takes ? count : 0;
      return first;
    };
    int64_t handOvers = take(hasHandOvers, groups);
    int64_t ofWarpgroups = take(syncsGroups, groups);
    barriers.push_back({handOvers, ofWarpgroups, take(syncsAll, 1)});
  }
  return {barriers, next};
}

LogicalResult RolesOp::verifyRegions() {
  size_t count = getBodies().size();
  if (count == 0 || getNames().size() != count || getWarps().size() != count ||
      getRegisters().size() != count)
    return violates(*this, "roles 1")
           << count << " regions with " << getNames().size() << " names, "
           << getWarps().size() << " numbers of warps and "
           << getRegisters().size() << " of registers";
  int64_t all = 0;
  for (auto [warps, registers] : llvm::zip(getWarps(), getRegisters())) {
    if (warps <= 0 || warps % 4 || warps > 32 || registers < 24 ||
        registers > 256 || registers % 8)
      return violates(*this, "roles 2")
             << warps << " warps with " << registers
             << " registers; a multiple of 4 up to 32, and one of 8 from 24 to "
                "256 are right";
    all += 32 * warps * registers;
  }
  int64_t blocks = getBlocks();
  if (getThreads() > 1024 || blocks < 1 || blocks > 32 || all * blocks > 65536)
    return violates(*this, "roles 3")
           << blocks << " blocks of " << getThreads() << " threads with " << all
           << " registers; 1 or more blocks of at most 1024 threads, with at "
              "most 65536 registers together, are right";
  if (int64_t count = getBarriers().second; count > 16)
    return violates(*this, "roles 5")
           << "hand-overs and syncs take " << count - 1
           << " named barriers; a block has 15 beside its own";
  return verifyProtocol(*this);
}

void RolesOp::print(OpAsmPrinter &printer) {
  if (getBlocks() != 1)
    printer << " blocks " << getBlocks();
  printer << " {";
  printer.increaseIndent();
  for (auto [name, warps, registers, body] :
       llvm::zip(getNames(), getWarps(), getRegisters(), getBodies())) {
    printer.printNewline();
    printer << "role " << name << " warps " << warps << " registers "
            << registers << " ";
    printer.printRegion(body, /*printEntryBlockArgs=*/false);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << "}";
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"names", "warps", "registers", "blocks"});
}

ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> names;
  SmallVector<int64_t> warps, registers;
  int64_t blocks = 1;
  if (succeeded(parser.parseOptionalKeyword("blocks")) &&
      parser.parseInteger(blocks))
    return failure();
  if (parser.parseLBrace())
    return failure();
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    std::string name;
    if (parser.parseString(&name) || parser.parseKeyword("warps") ||
        parser.parseInteger(warps.emplace_back()) ||
        parser.parseKeyword("registers") ||
        parser.parseInteger(registers.emplace_back()) ||
        parser.parseRegion(*result.addRegion(), {}))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    Region &region = *result.regions.back();
    if (region.empty())
      region.emplaceBlock();
  }
  result.addAttribute("names", parser.getBuilder().getArrayAttr(names));
  result.addAttribute("blocks", parser.getBuilder().getI64IntegerAttr(blocks));
  result.addAttribute("warps", parser.getBuilder().getDenseI64ArrayAttr(warps));
  result.addAttribute("registers",
                      parser.getBuilder().getDenseI64ArrayAttr(registers));
  return failure(parser.parseRBrace() ||
                 parser.parseOptionalAttrDict(result.attributes));
}

static LogicalResult verifyNumber(Operation *op, StringRef constraint) {
  if (!RolesOp::of(op).first)
    return violates(op, constraint)
           << "there is no role around it; a pit_gpu.roles has roles";
  return success();
}

LogicalResult ThreadOp::verify() { return verifyNumber(*this, "thread 1"); }
LogicalResult WarpOp::verify() { return verifyNumber(*this, "warp 1"); }
LogicalResult WarpgroupOp::verify() {
  return verifyNumber(*this, "warpgroup 1");
}

LogicalResult LeaderOp::verifyRegions() {
  if (!RolesOp::of(*this).first || (*this)->getParentOfType<LeaderOp>())
    return violates(*this, "leader 1")
           << "there is no role around it, or another leader; a role's warps "
              "elect";
  return success();
}

LogicalResult HandOverOp::verifyRegions() {
  if (!RolesOp::of(*this).first)
    return violates(*this, "hand_over 1")
           << "there is no role around it; a pit_gpu.roles has roles";
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getValues().getTypes() != getResultTypes())
    return violates(*this, "hand_over 2")
           << "yields " << yield.getValues().size() << " values, and has "
           << getNumResults() << " results; the same types are right";
  if ((*this)->getParentOfType<HandOverOp>())
    return violates(*this, "hand_over 3")
           << "it is in another one, whose turn would not end";
  return success();
}

LogicalResult SyncOp::verify() {
  auto [roles, number] = RolesOp::of(*this);
  if (!roles || (*this)->getParentOfType<LeaderOp>())
    return violates(*this, "sync 1")
           << (roles ? "one thread is here; all of a role wait for each other"
                     : "there is no role around it; a pit_gpu.roles has roles");
  int64_t groups = roles.getWarps()[number] / 4;
  if (getScope() == SyncScope::Role && groups > 1 &&
      (*this)->getParentOfType<HandOverOp>())
    return violates(*this, "sync 2")
           << groups
           << " warpgroups wait for each other in the turn of one; "
              "`of warpgroup` is right there";
  return success();
}

LogicalResult TilesOp::verifyRegions() {
  ArrayRef<int64_t> step = getStep();
  int64_t raster = getRaster();
  if (step.size() != 2 || raster < 1 || raster > kMaxStep ||
      llvm::any_of(step, [](int64_t s) { return s < 1 || s > kMaxStep; }))
    return violates(*this, "tiles 1")
           << step.size() << " steps and a raster of " << raster
           << "; two steps, and 1 to " << kMaxStep << " for each, are right";
  Block &body = getBody().front();
  auto yielded = cast<YieldOp>(body.getTerminator()).getValues().getTypes();
  auto carried = llvm::to_vector(body.getArgumentTypes());
  bool isRight =
      carried.size() == getInits().size() + 2 && carried[0].isIndex() &&
      carried[1].isIndex() &&
      llvm::equal(ArrayRef(carried).drop_front(2), getInits().getTypes()) &&
      llvm::equal(yielded, getInits().getTypes()) &&
      llvm::equal(getResultTypes(), getInits().getTypes());
  if (!isRight)
    return violates(*this, "tiles 2")
           << "carries " << getInits().size() << " values, has "
           << carried.size() << " arguments and yields " << yielded.size()
           << "; two coordinates (index), and the same types in all places, "
              "are right";
  return success();
}

void TilesOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  printer << " (" << body.getArgument(0) << ", " << body.getArgument(1)
          << ") to (" << getRows() << ", " << getCols() << ") step ("
          << getStep()[0] << ", " << getStep()[1] << ") raster " << getRaster();
  if (!getInits().empty()) {
    printer << " carry (";
    llvm::interleaveComma(
        llvm::zip(body.getArguments().drop_front(2), getInits()), printer,
        [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair);
        });
    printer << ")";
    printer.printArrowTypeList(getResultTypes());
  }
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"step", "raster"});
}

ParseResult TilesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments(2);
  SmallVector<OpAsmParser::UnresolvedOperand> bounds(2), inits;
  SmallVector<int64_t> step(2);
  int64_t raster;
  if (parser.parseLParen() || parser.parseArgument(arguments[0]) ||
      parser.parseComma() || parser.parseArgument(arguments[1]) ||
      parser.parseRParen() || parser.parseKeyword("to") ||
      parser.parseLParen() || parser.parseOperand(bounds[0]) ||
      parser.parseComma() || parser.parseOperand(bounds[1]) ||
      parser.parseRParen() || parser.parseKeyword("step") ||
      parser.parseLParen() || parser.parseInteger(step[0]) ||
      parser.parseComma() || parser.parseInteger(step[1]) ||
      parser.parseRParen() || parser.parseKeyword("raster") ||
      parser.parseInteger(raster))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("carry"))) {
    auto parseOne = [&]() -> ParseResult {
      return failure(parser.parseArgument(arguments.emplace_back()) ||
                     parser.parseEqual() ||
                     parser.parseOperand(inits.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
        parser.parseArrowTypeList(result.types))
      return failure();
  }
  if (result.types.size() != inits.size())
    return parser.emitError(parser.getNameLoc())
           << inits.size() << " values are carried, and " << result.types.size()
           << " types given";
  Type index = builder.getIndexType();
  arguments[0].type = arguments[1].type = index;
  for (auto [argument, type] :
       llvm::zip(llvm::drop_begin(arguments, 2), result.types))
    argument.type = type;
  Region *body = result.addRegion();
  result.addAttribute("step", builder.getDenseI64ArrayAttr(step));
  result.addAttribute("raster", builder.getI64IntegerAttr(raster));
  if (parser.resolveOperands(bounds, index, result.operands) ||
      parser.resolveOperands(inits, result.types, parser.getNameLoc(),
                             result.operands) ||
      parser.parseRegion(*body, arguments) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

template <typename TakeOp>
static LogicalResult verifyTake(TakeOp op, StringRef type, StringRef place) {
  StageType stage = op.getStage().getType();
  RingType ring = op.getRing().getType();
  if (!ring.getOfBlock() && failed(verifyInRole(op)))
    return failure();
  if (ring.getOfBlock() && RolesOp::of(op).first)
    return violates(op, place)
           << "it is in a role, and the ring one of the whole block";
  if (stage == ring.getStage())
    return success();
  return violates(op, type)
         << "a stage of " << stage.getTiles().size() << " tiles"
         << (stage.getOfBlock() ? " of the block" : "") << " from a ring of "
         << ring.getTiles().size() << (ring.getOfBlock() ? " of the block" : "")
         << "; the same tiles are right";
}

LogicalResult AcquireOp::verify() {
  return verifyTake(*this, "acquire 1", "acquire 2");
}
LogicalResult WaitOp::verify() { return verifyTake(*this, "wait 1", "wait 2"); }

LogicalResult CommitOp::verify() {
  int64_t numbers = getBytes().has_value() + static_cast<bool>(getAnnounced());
  int64_t bytes = getBytes().value_or(1);
  if (numbers != (getKind() == CommitKind::Tma) || bytes < 1 ||
      bytes > kMaxCount)
    return violates(*this, "commit 1")
           << "after " << stringifyCommitKind(getKind()) << " with "
           << (getBytes() ? std::to_string(bytes) : std::string("no number of"))
           << " bytes"
           << (getAnnounced() ? ", and others that are announced" : "")
           << "; TMA has 1 to " << kMaxCount << ", others have none";
  if (getStage().getDefiningOp<WaitOp>())
    return violates(*this, "commit 2")
           << "a stage that was waited for; it is released";
  bool isInTensorMemory = getStage().getType().isInTensorMemory();
  if (isInTensorMemory != (getKind() == CommitKind::Products))
    return violates(*this, "commit 3")
           << "after " << stringifyCommitKind(getKind()) << " a stage in "
           << (isInTensorMemory ? "tensor" : "shared")
           << " memory; products fill tensor memory, and nothing else does";
  if (!getStage().getType().getOfBlock())
    return verifyInRole(*this);
  if (getKind() == CommitKind::Copies && !getCondition())
    return success();
  return violates(*this, "commit 4")
         << "a stage of the block is full after "
         << stringifyCommitKind(getKind())
         << (getCondition() ? " on a condition" : "")
         << "; after copies, always, is right";
}

LogicalResult ReleaseOp::verify() {
  if (getStage().getDefiningOp<AcquireOp>())
    return violates(*this, "release 1")
           << "a stage that was acquired; it is committed";
  if (!isCluster(getCluster()))
    return violates(*this, "release 2") << "a cluster of " << getCluster()
                                        << " blocks; 1, 2, 4 or 8 is right";
  bool isOfMany = getCondition() || getByWarpgroups() || getCluster() > 1;
  if (getAfterProducts() &&
      (isOfMany || getStage().getType().isInTensorMemory()))
    return violates(*this, "release 3")
           << "after products a stage in "
           << (isOfMany ? "memory, on a condition or by many" : "tensor memory")
           << "; products read stages in shared memory, and the role gives "
              "these back once, in its block";
  if (!getStage().getType().getOfBlock())
    return verifyInRole(*this);
  if (!isOfMany && !getAfterProducts())
    return success();
  return violates(*this, "release 4")
         << "a stage of the block is released "
         << (getAfterProducts() ? "after products"
                                : "on a condition, by warpgroups or to others")
         << "; a release alone is right, which nobody is told";
}

LogicalResult TileOp::verify() {
  Type tile = tileOf(*this, "tile 1", getStage().getType(), getNumber());
  if (!tile)
    return failure();
  if (tile != getType())
    return violates(*this, "tile 1") << "tile " << getNumber() << " is a "
                                     << tile << ", not a " << getType();
  return success();
}

LogicalResult SubtileOp::verify() {
  TileType whole = getSource().getType(), part = getType();
  if (part.getRows() > whole.getRows() || part.getCols() > whole.getCols() ||
      part.getElementType() != whole.getElementType() ||
      part.getSwizzle() != whole.getSwizzle() ||
      part.getPitch() != whole.getPitch())
    return violates(*this, "subtile 1")
           << part << " is no part of " << whole
           << "; elements, swizzle and pitch are the same";
  if (part.getCols() != whole.getCols() &&
      part.getCols() % part.getLineElements() != 0)
    return violates(*this, "subtile 2")
           << part.getCols() << " columns; all " << whole.getCols()
           << " or a multiple of " << part.getLineElements() << " are right";
  return success();
}

LogicalResult AddressOp::verify() {
  if (getRow() && getCol() && isa<RowTileType>(getTile().getType()))
    return violates(*this, "address 1")
           << "an element of a " << getTile().getType()
           << "; its first byte alone has an address";
  if (static_cast<bool>(getRow()) == static_cast<bool>(getCol()))
    return success();
  return violates(*this, "address 1")
         << "it has a " << (getRow() ? "row" : "column")
         << " alone; both, or neither, are right";
}
