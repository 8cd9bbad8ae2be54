//===- PitMainloopOps.cpp - Mainloops and what stands in them -------------===//

#include "Verify.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "pit/Dialect/Pit/IR/Pit.h"

using namespace mlir;
using namespace mlir::pit;

/// Does a map with such extents lead to elements of a tile of type `view` only?
static bool fitsTile(ArrayRef<int64_t> extents, Type view) {
  auto shape = cast<VectorType>(view).getShape();
  return shape.size() == extents.size() &&
         llvm::all_of(llvm::zip(shape, extents), [](auto both) {
           return std::get<1>(both) <= std::get<0>(both);
         });
}

/// Verifies the map of `what`, which goes from the dims of `tile` to elements
/// of a tile of type `view`. `sums` and `inside` are the constraints.
static LogicalResult verifyMap(Operation *op, AffineMap map, const Twine &what,
                               ArrayRef<int64_t> tile, Type view,
                               StringRef sums, StringRef inside) {
  std::optional<SmallVector<int64_t>> extents = getTileExtents(map, tile);
  if (!extents)
    return violates(op, sums)
           << "takes maps of " << tile.size()
           << " dims to sums of them times positive numbers, but the one of "
           << what << " is " << AffineMapAttr::get(map);
  if (!fitsTile(*extents, view))
    return violates(op, inside) << "reads elements beyond " << view << " of "
                                << what << " by " << AffineMapAttr::get(map);
  return success();
}

/// The first extent of `tile` that is not positive, by which plans would
/// divide.
static std::optional<int64_t> findNoExtent(ArrayRef<int64_t> tile) {
  const int64_t *found =
      llvm::find_if(tile, [](int64_t extent) { return extent <= 0; });
  return found == tile.end() ? std::nullopt : std::optional(*found);
}

static Type elementOf(Value tile) {
  return cast<VectorType>(tile.getType()).getElementType();
}

LogicalResult ContractOp::verify() {
  if (getMaps().size() != getNumOperands())
    return violates(*this, "contract 1")
           << "has " << getMaps().size()
           << " maps; it takes one for each of two operands, "
              "one for the accumulator, and one for each of "
           << getScales().size() << " scales";
  if (std::optional<int64_t> extent = findNoExtent(getTile()))
    return violates(*this, "contract 4")
           << "has a tile of extent " << *extent << "; extents are positive";
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    if (i == 2)
      continue; // the accumulator
    std::string what = i < 2 ? "operand " + std::to_string(i)
                             : "scale " + std::to_string(i - 3);
    if (failed(verifyMap(*this, getMap(i), what, getTile(),
                         getOperand(i).getType(), "contract 2", "contract 3")))
      return failure();
  }
  AffineMap acc = getMap(2);
  if (acc.getNumDims() != getTile().size() || !acc.isProjectedPermutation())
    return violates(*this, "contract 4")
           << "has an accumulator of some of the tile's " << getTile().size()
           << " dims, once each, not " << AffineMapAttr::get(acc);
  SmallVector<int64_t> shape = acc.compose(getTile());
  if (cast<VectorType>(getAcc().getType()).getShape() != ArrayRef(shape))
    return violates(*this, "contract 4")
           << "adds to " << getAcc().getType() << "; by "
           << AffineMapAttr::get(acc) << " of its tile it has to be a "
           << VectorType::get(shape, elementOf(getAcc()));
  for (unsigned i = 0; i < getScales().size(); ++i)
    for (auto [d, extent] : llvm::enumerate(getTile()))
      if (extent != 1 && getMap(3 + i).isFunctionOfDim(d) &&
          !acc.isFunctionOfDim(d))
        return violates(*this, "contract 7")
               << "sums up over dim " << d << " of its tile, along which scale "
               << i << " changes by " << AffineMapAttr::get(getMap(3 + i));
  if (getTf32())
    for (Value tile : getOperands())
      if (!elementOf(tile).isF32())
        return violates(*this, "contract 6")
               << "rounds f32 operands of f32 sums to tf32, not "
               << elementOf(tile);
  return success();
}

LogicalResult ContractOp::verifyRegions() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  SmallVector<Type> elements = llvm::map_to_vector(getOperands(), elementOf);
  Type sum = elementOf(getAcc());
  if (block.getArgumentTypes() != TypeRange(elements) || !yield ||
      yield.getOperandTypes() != TypeRange(sum))
    return violates(*this, "contract 5")
           << "has a region that takes " << block.getArgumentTypes()
           << "; it has to take " << TypeRange(elements) << " and to yield "
           << sum;
  return success();
}

bool mlir::pit::takesDimsOnce(AffineMap map) {
  llvm::SmallDenseSet<unsigned> dims;
  return map.getNumSymbols() == 0 &&
         llvm::all_of(map.getResults(), [&](AffineExpr result) {
           if (auto dim = dyn_cast<AffineDimExpr>(result))
             return dims.insert(dim.getPosition()).second;
           return result == 0;
         });
}

LogicalResult PointwiseOp::verify() {
  auto mainloop = cast<MainloopOp>((*this)->getParentOp());
  Region *region = getOperation()->getParentRegion();
  if (region != &mainloop.getCompute() && region != &mainloop.getExtraResults())
    return violates(*this, "pointwise 7")
           << "stands elsewhere than in 'compute' or 'also' of a mainloop";
  if (getMaps().size() != getInputs().size() + 1)
    return violates(*this, "pointwise 1")
           << "has " << getMaps().size() << " maps; it takes one for each of "
           << getInputs().size() << " inputs and one for the result";
  if (std::optional<int64_t> extent = findNoExtent(getTile()))
    return violates(*this, "pointwise 2")
           << "has a tile of extent " << *extent << "; extents are positive";
  for (unsigned i = 0; i < getMaps().size(); ++i) {
    bool isResult = i == getInputs().size();
    std::string what = isResult ? "the result" : "input " + std::to_string(i);
    if (getMap(i).getNumDims() != getTile().size() || !takesDimsOnce(getMap(i)))
      return violates(*this, "pointwise 2")
             << "takes maps of " << getTile().size()
             << " dims to these, once each, or to 0, but the one of " << what
             << " is " << AffineMapAttr::get(getMap(i));
    Value tile = isResult ? getResult() : Value(getInputs()[i]);
    if (failed(verifyMap(*this, getMap(i), what, getTile(), tile.getType(),
                         "pointwise 3", "pointwise 3")))
      return failure();
  }
  AffineMap map = getResultMap();
  if (*getTileExtents(map, getTile()) != getResult().getType().getShape())
    return violates(*this, "pointwise 3")
           << "computes some elements of " << getResult().getType() << " by "
           << AffineMapAttr::get(map) << " of " << getTile()
           << "; it has to compute all of them";
  for (auto [d, extent] : llvm::enumerate(getTile()))
    if (extent != 1 && !getAcc() && !map.isFunctionOfDim(d))
      return violates(*this, "pointwise 4")
             << "gives a result without dim " << d << ", which is " << extent
             << " long; that takes 'reduces'";
  if (getAcc() && getAcc().getType() != getResult().getType())
    return violates(*this, "pointwise 5")
           << "starts from " << getAcc().getType() << " and gives "
           << getResult().getType() << "; both have to be the same";
  return success();
}

LogicalResult PointwiseOp::verifyRegions() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  SmallVector<Type> elements(getTile().size(), IndexType::get(getContext()));
  for (Value input : getInputs())
    elements.push_back(elementOf(input));
  Type result = elementOf(getResult());
  if (getAcc())
    elements.push_back(result);
  if (block.getArgumentTypes() != TypeRange(elements) || !yield ||
      yield.getOperandTypes() != TypeRange(result))
    return violates(*this, "pointwise 6")
           << "has a region that takes " << block.getArgumentTypes()
           << "; it has to take " << TypeRange(elements) << " and to yield "
           << result;
  return success();
}

/// Why a step computes more than products of what it loads, one for each
/// accumulator; empty: it does not.
static std::string whyNoProduct(MainloopOp op) {
  Block &block = op.getCompute().front();
  auto results = block.getTerminator()->getOperands();
  unsigned loaded = op.getNumLoaded();
  for (unsigned i = 0; i < loaded; ++i)
    if (!op.getLoaded(i))
      return "load has to yield views alone";
  if (block.getNumArguments() != loaded + results.size() ||
      !op.getExtraResults().empty())
    return "compute takes more than loaded tiles and accumulators, or there "
           "are further results";
  auto isLoaded = [&](Value tile) {
    auto argument = dyn_cast<BlockArgument>(tile);
    return argument && argument.getArgNumber() < loaded;
  };
  for (auto [i, value] : llvm::enumerate(results)) {
    auto contract = value.getDefiningOp<ContractOp>();
    if (!contract || contract.getAcc() != block.getArgument(loaded + i) ||
        !isLoaded(contract.getLhs()) || !isLoaded(contract.getRhs()) ||
        !llvm::all_of(contract.getScales(), isLoaded))
      return ("compute has to yield, as value " + Twine(i) +
              ", a pit.contract that adds two of the loaded tiles to "
              "accumulator " +
              Twine(i))
          .str();
    ContractOp first = op.getContraction();
    if (contract.getProperties() != first.getProperties() ||
        !OperationEquivalence::isRegionEquivalentTo(
            &contract.getBody(), &first.getBody(),
            OperationEquivalence::IgnoreLocations))
      return "compute has contractions of unequal tiles, maps or regions";
  }
  if (block.getOperations().size() != results.size() + 1)
    return ("compute has " + Twine(block.getOperations().size() - 1) +
            " ops for " + Twine(results.size()) +
            " accumulators; there is a pit.contract for each, and nothing else")
        .str();
  auto shape = cast<VectorType>(results.front().getType()).getShape();
  if (op.getAccumulatorShape() != shape ||
      !llvm::all_of(op.getElementMaps(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return "the elements of accumulators have other places in the result";
  return "";
}

bool MainloopOp::isProduct() { return whyNoProduct(*this).empty(); }

/// Checks the shape of the tile that is written, and what stands with it.
static LogicalResult verifyBody(MainloopOp op) {
  for (Value tile : op.getInvariants())
    if (!tile.getDefiningOp<ViewOp>() && !tile.getDefiningOp<CoordsOp>())
      return violates(op, "mainloop 15")
             << "has a tile for all steps that is no pit.view or pit.coords";
  auto results = op.getCompute().front().getTerminator()->getOperands();
  size_t rank = cast<ShapedType>(op.getDest().getType()).getRank();
  if (!op.getResultTile() || !op.getSumMaps()) {
    if (op.getResultTile() || op.getSumMaps() ||
        !llvm::all_equal(results.getTypes()))
      return violates(op, "mainloop 15")
             << "has no 'body'; 'sums' and accumulators of several types stand "
                "with one";
    if (op.getAccumulatorShape().size() != rank)
      return violates(op, "mainloop 15")
             << "has accumulators of " << op.getAccumulatorShape().size()
             << " dims and no 'body'; its destination has " << rank;
    return success();
  }
  if (op.getResultTile()->size() != rank ||
      op.getSumMaps()->size() != results.size())
    return violates(op, "mainloop 15")
           << "has a 'body' of " << op.getResultTile()->size()
           << " extents and " << op.getSumMaps()->size()
           << " maps in 'sums'; it takes " << rank << " and " << results.size()
           << ", for its destination and its accumulators";
  if (std::optional<int64_t> extent = findNoExtent(*op.getResultTile()))
    return violates(op, "mainloop 15")
           << "has a 'body' of extent " << *extent << "; extents are positive";
  for (auto [i, map] :
       llvm::enumerate(op.getSumMaps()->getAsValueRange<AffineMapAttr>())) {
    std::optional<SmallVector<int64_t>> extents =
        getTileExtents(map, *op.getResultTile());
    if (!extents || !takesDimsOnce(map) ||
        !fitsTile(*extents, results[i].getType()))
      return violates(op, "mainloop 15")
             << "takes the elements of accumulator " << i << " by "
             << AffineMapAttr::get(map) << "; the map has to go from the "
             << rank << " dims of 'body', once each, to elements of "
             << results[i].getType();
  }
  return success();
}

/// Checks what a step computes.
static LogicalResult verifyCompute(MainloopOp op) {
  Block &block = op.getCompute().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() == 0 ||
      !llvm::all_of(yield.getOperandTypes(), llvm::IsaPred<VectorType>))
    return violates(op, "mainloop 6")
           << "compute has to yield one accumulator or more";
  if (failed(verifyBody(op)))
    return failure();
  SmallVector<Type> arguments(
      op.getLoad().front().getTerminator()->getOperandTypes());
  auto *numbers = llvm::find_if_not(arguments, llvm::IsaPred<VectorType>);
  auto once = op.getInvariants().getTypes();
  arguments.insert(numbers, once.begin(), once.end());
  llvm::append_range(arguments, yield.getOperandTypes());
  if (block.getArgumentTypes() != TypeRange(arguments))
    return violates(op, "mainloop 8")
           << "compute takes " << block.getArgumentTypes() << " instead of "
           << arguments;
  for (Operation &inner : block.without_terminator())
    if (!isa<ContractOp, PointwiseOp, StoreOp>(inner))
      return violates(op, "mainloop 16")
             << "has " << inner.getName()
             << " in 'compute'; it takes pit.contract, pit.pointwise and "
                "pit.store";
  if (llvm::any_of(yield.getOperands(), [&](Value value) {
        return value.getParentBlock() != &block;
      }))
    return violates(op, "mainloop 6")
           << "compute has to yield tiles of its own";
  if (isa<MemRefType>(op.getDest().getType()))
    return success();
  if (std::string why = whyNoProduct(op); !why.empty())
    return violates(op, "mainloop 7") << why;
  return success();
}

/// Checks the signature of one of a mainloop's regions.
static LogicalResult verifyRegion(MainloopOp op, StringRef name, Region &region,
                                  TypeRange arguments, TypeRange results) {
  Block &block = region.front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (block.getArgumentTypes() != arguments)
    return violates(op, "mainloop 8")
           << name << " takes " << block.getArgumentTypes() << " instead of "
           << arguments;
  if (!yield || yield.getOperandTypes() != results)
    return violates(op, "mainloop 9")
           << name << " has to end with a pit.yield of " << results;
  return success();
}

/// Checks the region that names a group for each step.
static LogicalResult verifyGroups(MainloopOp op) {
  if (op.getGroups().empty())
    return success();
  if (!op.getIndex() || op.getSteps().empty() || !op.getGroup().empty())
    return violates(op, "mainloop 10")
           << "names groups by its steps, which takes an index, "
              "steps, and no group for all of them";
  Builder builder(op.getContext());
  auto index = cast<SparsityIndexType>(op.getIndex().getType());
  SmallVector<Type> steps(op.getSteps().size(), builder.getIndexType()),
      group(index.getGroupDims().size(), builder.getIndexType());
  return verifyRegion(op, "groups", op.getGroups(), steps, group);
}

/// Checks the region of further results.
static LogicalResult verifyExtraResults(MainloopOp op) {
  if (op.getExtraResults().empty())
    return success();
  auto carried = op.getCompute().front().getTerminator()->getOperandTypes();
  if (failed(
          verifyRegion(op, "extra_results", op.getExtraResults(), carried, {})))
    return failure();
  for (Operation &inner : op.getExtraResults().front().without_terminator())
    if (!isa<PointwiseOp, StoreOp>(inner))
      return violates(op, "mainloop 17")
             << "has " << inner.getName()
             << " in 'also'; it takes pit.pointwise and pit.store";
  return success();
}

/// Checks the regions of scalar code.
static LogicalResult verifyScalars(MainloopOp op) {
  SmallVector<Type> elements, accumulators;
  for (Type type : op.getExtras().getTypes())
    elements.push_back(cast<VectorType>(type).getElementType());
  for (Value sum : op.getCompute().front().getTerminator()->getOperands())
    accumulators.push_back(elementOf(sum));
  Operation *init = op.getPrologue().front().getTerminator();
  Operation *finish = op.getEpilogue().front().getTerminator();
  if (init->getNumOperands() != accumulators.size() ||
      finish->getNumOperands() != 1)
    return violates(op, "mainloop 11")
           << "init has to yield a value for each of " << accumulators.size()
           << " accumulators and finish one; they yield "
           << init->getNumOperands() << " and " << finish->getNumOperands();
  SmallVector<Type> finishing(accumulators);
  llvm::append_range(finishing, elements);
  if (failed(verifyRegion(op, "prologue", op.getPrologue(), elements,
                          accumulators)))
    return failure();
  return verifyRegion(op, "epilogue", op.getEpilogue(), finishing,
                      finish->getOperandTypes());
}

/// Checks what a scan of the tile takes.
static LogicalResult verifyScan(MainloopOp op) {
  auto dest = cast<ShapedType>(op.getDest().getType());
  if (!op.getBitmap())
    return success();
  int64_t columns = op.getAccumulatorShape().back();
  if (!isa<MemRefType>(dest) || op.getCombine() || columns % kWordBits != 0)
    return violates(op, "mainloop 14")
           << "scans " << (op.getCombine() ? "sums" : "tiles") << " of "
           << columns << " columns in " << dest
           << "; it scans tiles of memrefs, which are final, and have a "
              "multiple of "
           << kWordBits << " columns";
  if (failed(verifyElement(op, dest.getElementType())) ||
      failed(verifyNumber(op, "background", op.getBackgroundAttr(),
                          dest.getElementType())))
    return failure();
  return verifyBitmap(op, cast<ShapedType>(op.getBitmap().getType()), dest);
}

LogicalResult MainloopOp::verify() {
  if (getLower().size() != getSteps().size() ||
      getUpper().size() != getSteps().size())
    return violates(*this, "mainloop 1")
           << "has " << getLower().size() << " lower bounds, "
           << getUpper().size() << " upper bounds and " << getSteps().size()
           << " steps";
  for (int64_t step : getSteps())
    if (step <= 0)
      return violates(*this, "mainloop 1")
             << "has a step of " << step << "; steps are positive";
  if (getIndex() && getChunk() <= 0)
    return violates(*this, "mainloop 1")
           << "has a chunk of " << getChunk()
           << " ids of its index; a chunk is positive";
  if (getExtraMaps().size() != getExtras().size())
    return violates(*this, "mainloop 2")
           << "has " << getExtraMaps().size() << " maps for "
           << getExtras().size() << " extras";
  auto dest = cast<ShapedType>(getDest().getType());
  if (static_cast<int64_t>(getSubscripts().size()) != dest.getRank())
    return violates(*this, "mainloop 12")
           << "has " << getSubscripts().size()
           << " subscripts for a destination of rank " << dest.getRank();
  Type result = getResult() ? getResult().getType() : Type();
  Type expected = isa<RankedTensorType>(dest) ? Type(dest) : Type();
  if (result != expected)
    return violates(*this, "mainloop 13")
           << "writes into " << dest << " and has " << (result ? "a" : "no")
           << " result; a tensor comes back as a result of its "
              "type, a memref does not";
  return success();
}

/// Each dimension of the tile has one part in a CPU's schedule.
static LogicalResult verifySchedule(MainloopOp op, CpuScheduleAttr schedule) {
  SmallVector<int64_t> dims = schedule.getDims();
  llvm::sort(dims);
  int64_t count = op.getTile().size();
  if (!llvm::equal(dims, llvm::seq<int64_t>(0, count)))
    return violates(op, "mainloop 18")
           << "has the schedule " << schedule
           << "; m, n, batch and k have to be the tile's " << count
           << " dimensions, each once";
  unsigned b = 1 - schedule.getA();
  int64_t rank =
      cast<VectorType>(op.getContraction()->getOperand(b).getType()).getRank();
  if (schedule.getLane() >= rank)
    return violates(op, "mainloop 18")
           << "has the schedule " << schedule << "; lane has to be one of the "
           << rank << " dimensions of operand " << b;
  return success();
}

static LogicalResult verifySchedules(MainloopOp op) {
  bool isProduct = op.isProduct();
  ArrayAttr schedules = op.getSchedulesAttr();
  for (Attribute schedule :
       schedules ? schedules.getValue() : ArrayRef<Attribute>()) {
    auto ofGpu = dyn_cast<GpuScheduleAttr>(schedule);
    if (!ofGpu) {
      if (isProduct &&
          failed(verifySchedule(op, cast<CpuScheduleAttr>(schedule))))
        return failure();
      continue;
    }
    if (isProduct && ofGpu.getMultiply() == Multiply::Wgmma &&
        !ofGpu.getProducers())
      return violates(op, "mainloop 19")
             << "has the schedule " << ofGpu
             << "; wgmma multiplies products that producers load";
    if (!isProduct && ofGpu.isOfProduct())
      return violates(op, "mainloop 19")
             << "has the schedule " << ofGpu
             << "; a, load_a, load_b, cluster, column_blocks and fill_rows are "
                "of products, and it is a tile body";
  }
  return success();
}

void MainloopOp::addSchedule(Attribute schedule, bool isBetter) {
  SmallVector<Attribute> schedules;
  if (ArrayAttr known = getSchedulesAttr())
    llvm::append_range(schedules, known);
  schedules.insert(isBetter ? schedules.begin() : schedules.end(), schedule);
  setSchedulesAttr(ArrayAttr::get(getContext(), schedules));
}

LogicalResult MainloopOp::verifyRegions() {
  auto *loads = getLoad().front().getTerminator();
  auto views = llvm::count_if(loads->getOperands(), [&](Value v) {
    return v.getDefiningOp<ViewOp>() || v.getDefiningOp<CoordsOp>();
  });
  auto isTile = llvm::IsaPred<VectorType>;
  bool tilesFirst =
      llvm::all_of(loads->getOperands().take_front(views).getTypes(), isTile);
  bool numbersBehind =
      llvm::all_of(loads->getOperands().drop_front(views).getTypes(),
                   [](Type type) { return type.isIntOrIndexOrFloat(); });
  if (views == 0 || !tilesFirst || !numbersBehind)
    return violates(*this, "mainloop 5")
           << "load has to yield views, and yields " << loads->getNumOperands()
           << " values, " << views << " of them views";
  SmallVector<Type> steps(getSteps().size(), IndexType::get(getContext()));
  if (getIndex())
    steps.append(2, IdsType::get(getContext(), getChunk()));
  if (failed(verifyRegion(*this, "load", getLoad(), steps,
                          loads->getOperandTypes())) ||
      failed(verifyCompute(*this)))
    return failure();
  for (auto [i, extra] : llvm::enumerate(getExtras()))
    if (failed(verifyMap(*this,
                         cast<AffineMapAttr>(getExtraMaps()[i]).getValue(),
                         "extra " + Twine(i), getAccumulatorShape(),
                         extra.getType(), "mainloop 3", "mainloop 4")))
      return failure();
  if (failed(verifyScalars(*this)) || failed(verifyExtraResults(*this)) ||
      failed(verifyScan(*this)) || failed(verifySchedules(*this)))
    return failure();
  return verifyGroups(*this);
}
