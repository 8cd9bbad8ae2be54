//===- OnlineReductions.cpp - Which ops are one loop along an axis --------===//

#include "pit/Analysis/OnlineReductions.h"

#include "OnlineDependences.h"
#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

class ChainFinder {
public:
  /// Ops in `stored` are not computed in the loop.
  ChainFinder(FindSelection findSelection,
              const llvm::SmallDenseSet<Operation *> &stored,
              bool storesFactors, bool adds)
      : findSelection(findSelection), stored(stored),
        storesFactors(storesFactors), adds(adds) {}

  /// None if there is no chain; then `refused` says why, if there is a reason.
  std::optional<OnlineChain> run(linalg::LinalgOp last);

  Refused refused;
  /// An op that others use, too, if that is the reason.
  Operation *culprit = nullptr;

private:
  /// Adds an op whose result has these dims of the chain, and whose loops have
  /// those that are not -1.
  bool add(Operation *op, ChainRole role, ArrayRef<int64_t> resultDims,
           ArrayRef<int64_t> loops = {});
  /// Adds what computes inputs of the op number `number`, along the axis.
  bool addElements(unsigned number);
  /// Adds reductions, and what is computed of them, that ops of the chain read.
  bool addRows(Value value);
  bool isReductionOfAxis(Operation *op, ArrayRef<int64_t> resultDims);
  SmallVector<std::pair<unsigned, int64_t>>
  reducedLoops(linalg::LinalgOp op) const;
  bool reducesDims(linalg::LinalgOp op) const;
  /// Adds ops that use what the chain computes.
  bool addUsers();
  bool addUser(OpOperand &use);
  bool addsInSteps(linalg::LinalgOp op, ArrayRef<int64_t> loops,
                   ArrayRef<int64_t> resultDims) const;
  bool note(Value value, ArrayRef<int64_t> dims);
  bool readsAxis(AffineMap map, ArrayRef<int64_t> loops) const;
  bool addFollowing();
  bool dependsOnChain(Value value);
  bool checkUses();
  bool checkOps();
  void sort();

  bool refuse(OnlineCondition condition, const Twine &reason) {
    refused = pit::refuse("[O", unsigned(condition), "] ", reason);
    return false;
  }

  FindSelection findSelection;
  const llvm::SmallDenseSet<Operation *> &stored;
  bool storesFactors, adds;
  OnlineChain chain;
  Block *block = nullptr;
};

} // namespace

bool ChainFinder::note(Value value, ArrayRef<int64_t> dims) {
  auto [it, isNew] = chain.dims.insert({value, llvm::to_vector(dims)});
  // Operands that are only read may be read along other dims, too.
  return isNew || ArrayRef<int64_t>(it->second) == dims || !chain.find(value);
}

/// Is an input of an op whose loops have these dims read along the axis, or
/// along dims that are not known yet?
bool ChainFinder::readsAxis(AffineMap map, ArrayRef<int64_t> loops) const {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && (loops[dim.getPosition()] < 0 ||
                   loops[dim.getPosition()] == int64_t(chain.axis));
  });
}

bool ChainFinder::add(Operation *op, ChainRole role,
                      ArrayRef<int64_t> resultDims, ArrayRef<int64_t> loops) {
  ChainOp made;
  made.op = op;
  made.role = role;
  if (auto computed = dyn_cast<linalg::LinalgOp>(op)) {
    made.resultMap =
        computed.getMatchingIndexingMap(computed.getDpsInitOperand(0));
    SmallVector<int64_t> dims(loops);
    dims.resize(computed.getNumLoops(), -1);
    for (auto [expr, dim] : llvm::zip(made.resultMap.getResults(), resultDims))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        dims[loop.getPosition()] = dim;
    for (OpOperand *input : computed.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType())) {
        made.inputs.push_back(lookThrough(computed, *input));
        // A number is none to read.
        if (computed.getNumReductionLoops() == 0 &&
            getUniformConstant(made.inputs.back().value)) {
          made.inputs.pop_back();
          continue;
        }
        // Operands that run along the axis are rows that exponents are shifted
        // by.
        ChainInput row = made.inputs.back();
        lookThroughFinite(row);
        if (role != ChainRole::Rows && !readsAxis(row.map, dims))
          made.inputs.back() = row;
      }
    if (role == ChainRole::Reduction)
      for (auto [loop, dim] : reducedLoops(computed))
        dims[loop] = dim;
    for (int64_t &dim : dims)
      if (dim < 0)
        dim = chain.numDims++;
    made.dims.assign(dims.begin(), dims.end());
  } else {
    Selection selection = *findSelection(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    made.resultMap =
        AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
    for (int64_t dim : resultDims) {
      if (dim < 0)
        dim = chain.numDims++;
      made.dims.push_back(dim);
    }
    made.inputs.push_back({0, selection.input, made.resultMap});
  }
  chain.numbers[op] = chain.ops.size();
  chain.ops.push_back(made);
  for (const ChainInput &input : made.inputs)
    if (!note(input.value, made.dimsOf(input.map)))
      return refuse(OnlineCondition::Structured,
                    "a value is read along several dims");
  return note(made.result(), made.dimsOf(made.resultMap)) ||
         refuse(OnlineCondition::Structured,
                "a value is read along several dims");
}

/// Is an op a sum of products of two operands?
static bool multiplies(const ChainOp &op) {
  linalg::LinalgOp computed = op.linalgOp();
  return computed && computed.getNumReductionLoops() > 0 &&
         op.inputs.size() == 2;
}

/// Is what an element-wise op reads computed by no reduction and no mark?
static bool readsWhatIsThere(linalg::LinalgOp op) {
  return isElementwiseOp(op) && llvm::all_of(op.getDpsInputs(), [](Value from) {
           auto computed = from.getDefiningOp<linalg::LinalgOp>();
           return !computed || isa<linalg::FillOp>(computed) ||
                  readsWhatIsThere(computed);
         });
}

bool ChainFinder::addElements(unsigned number) {
  // `ops` grows, and moves.
  for (unsigned i = 0; i < chain.ops[number].inputs.size(); ++i) {
    ChainInput input = chain.ops[number].inputs[i];
    SmallVector<int64_t> dims = chain.ops[number].dimsOf(input.map);
    Operation *op = input.value.getDefiningOp();
    if (!llvm::is_contained(dims, int64_t(chain.axis)) || !op ||
        op->getBlock() != block || chain.find(input.value) ||
        stored.contains(op))
      continue;
    auto computed = dyn_cast<linalg::LinalgOp>(op);
    bool isElements =
        (computed && (isElementwiseOp(computed) || isReduction(computed))) ||
        findSelection(op);
    if (!isElements || isa<linalg::FillOp>(op))
      continue;
    if (storesFactors && computed && multiplies(chain.ops[number]) &&
        readsWhatIsThere(computed))
      continue;
    // A contraction whose result others want, too, is stored anyway.
    if (computed && computed.getNumReductionLoops() > 0) {
      SmallVector<unsigned> summed;
      computed.getReductionDims(summed);
      SmallVector<int64_t> extents = computed.getStaticLoopRanges();
      bool fits = llvm::all_of(summed, [&](unsigned d) {
        return !ShapedType::isDynamic(extents[d]) && extents[d] > 0 &&
               extents[d] <= 512;
      });
      if (!fits || computed.getNumDpsInputs() != 2)
        continue;
    }
    if (!add(op, ChainRole::Elements, dims) ||
        !addElements(chain.ops.size() - 1))
      return false;
  }
  return true;
}

/// The loops that a reduction of the chain reduces, and their dims: the
/// innermost one is the axis.
SmallVector<std::pair<unsigned, int64_t>>
ChainFinder::reducedLoops(linalg::LinalgOp op) const {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<std::pair<unsigned, int64_t>> found;
  for (auto [loop, dim] : llvm::zip(ArrayRef(loops).drop_back(), chain.outers))
    found.push_back({loop, dim});
  found.push_back({loops.back(), chain.axis});
  return found;
}

bool ChainFinder::reducesDims(linalg::LinalgOp op) const {
  return isReduction(op) &&
         op.getNumReductionLoops() == chain.outers.size() + 1;
}

bool ChainFinder::isReductionOfAxis(Operation *op,
                                    ArrayRef<int64_t> resultDims) {
  auto computed = dyn_cast<linalg::LinalgOp>(op);
  if (!computed || op->getBlock() != block || !reducesDims(computed))
    return false;
  auto reduced = reducedLoops(computed);
  AffineMap result =
      computed.getMatchingIndexingMap(computed.getDpsInitOperand(0));
  for (OpOperand *operand : computed.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      continue;
    ChainInput input = lookThrough(computed, *operand);
    auto known = chain.dims.find(input.value);
    if (known == chain.dims.end() || !chain.runsAlongAxis(input.value))
      continue;
    bool matches = true;
    for (auto [expr, dim] : llvm::zip(input.map.getResults(), known->second)) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto *summed = llvm::find_if(reduced, [&](const auto &each) {
        return each.first == loop.getPosition();
      });
      if (summed != reduced.end()) {
        matches &= dim == summed->second;
        continue;
      }
      std::optional<unsigned> position = result.getResultPosition(expr);
      matches &=
          position && (resultDims.empty() || resultDims[*position] == dim);
    }
    if (matches && input.map.isFunctionOfDim(reduced.back().first))
      return true;
  }
  return false;
}

bool ChainFinder::addRows(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || chain.find(value))
    return true;
  SmallVector<int64_t> dims = chain.dims.find(value)->second;
  if (isReductionOfAxis(op, dims))
    return add(op, ChainRole::Reduction, dims) &&
           addElements(chain.ops.size() - 1);
  auto computed = dyn_cast<linalg::LinalgOp>(op);
  if (!computed || op->getBlock() != block || !isElementwiseOp(computed) ||
      isa<linalg::FillOp>(op))
    return true;
  // Does a reduction of the chain lie behind it?
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Value> seen;
  bool found = false;
  while (!worklist.empty() && !found && seen.size() < 16) {
    Value behind = worklist.pop_back_val();
    auto def = behind.getDefiningOp<linalg::LinalgOp>();
    if (!def || !seen.insert(behind).second)
      continue;
    found = chain.find(behind) || isReductionOfAxis(def, {});
    if (isElementwiseOp(def))
      for (OpOperand *operand : def.getDpsInputOperands())
        if (isa<RankedTensorType>(operand->get().getType()))
          worklist.push_back(lookThrough(def, *operand).value);
  }
  if (!found)
    return true;
  if (!add(op, ChainRole::Rows, dims))
    return false;
  unsigned number = chain.ops.size() - 1;
  for (unsigned i = 0; i < chain.ops[number].inputs.size(); ++i)
    if (!addRows(chain.ops[number].inputs[i].value))
      return false;
  return true;
}

static bool sumsProducts(linalg::LinalgOp op) {
  FailureOr<Combiner> combiner = matchCombiner(op, 0);
  return succeeded(combiner) && combiner->contributions.size() == 1 &&
         isa<arith::AddFOp>(combiner->ops.front()) &&
         combiner->contributions.front().getDefiningOp<arith::MulFOp>();
}

/// Does an op sum up products over a dim of the rows, from 0, and has its
/// result the other dims of what it multiplies, the axis among them?
bool ChainFinder::addsInSteps(linalg::LinalgOp op, ArrayRef<int64_t> loops,
                              ArrayRef<int64_t> resultDims) const {
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  int64_t dim = summed.size() == 1 ? loops[summed.front()] : -1;
  return adds && dim >= 0 && dim != int64_t(chain.axis) &&
         !chain.isOuter(dim) && op.getNumDpsInputs() == 2 &&
         llvm::is_contained(resultDims, int64_t(chain.axis)) &&
         llvm::count(resultDims, -1) == 1 && sumsProducts(op) &&
         isZero(getUniformConstant(op.getDpsInits()[0]));
}

bool ChainFinder::addUser(OpOperand &use) {
  Operation *user = use.getOwner();
  if (chain.numbers.contains(user) || user->getBlock() != block ||
      isa<tensor::DimOp>(user))
    return true;
  const SmallVector<int64_t> dims = chain.dims.find(use.get())->second;
  if (auto selection = findSelection(user)) {
    if (selection->input != use.get())
      return true;
    return add(user, ChainRole::Elements, dims);
  }
  auto computed = dyn_cast<linalg::LinalgOp>(user);
  if (!computed || computed.isDpsInit(&use))
    return true;
  AffineMap map = computed.getMatchingIndexingMap(&use);
  bool elementwise = isElementwiseOp(computed);
  if (!elementwise && !isReduction(computed))
    return true;
  AffineMap result =
      computed.getMatchingIndexingMap(computed.getDpsInitOperand(0));
  SmallVector<int64_t> loops(computed.getNumLoops(), -1);
  for (auto [expr, dim] : llvm::zip(map.getResults(), dims))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = dim;
  SmallVector<int64_t> resultDims;
  for (AffineExpr expr : result.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    resultDims.push_back(loop ? loops[loop.getPosition()] : -1);
  }
  if (elementwise)
    return add(user, ChainRole::Elements, resultDims) &&
           addElements(chain.ops.size() - 1);
  if (addsInSteps(computed, loops, resultDims))
    return add(user, ChainRole::Added, resultDims, loops);
  if (!reducesDims(computed) ||
      llvm::any_of(reducedLoops(computed), [&](const auto &reduced) {
        return loops[reduced.first] != reduced.second;
      }))
    return true;
  return add(user, ChainRole::Reduction, resultDims) &&
         addElements(chain.ops.size() - 1);
}

bool ChainFinder::addUsers() {
  for (unsigned i = 0; i < chain.ops.size(); ++i) {
    if (chain.ops[i].role != ChainRole::Elements)
      continue;
    for (OpOperand &use : chain.ops[i].result().getUses())
      if (!addUser(use))
        return false;
  }
  return true;
}

bool ChainFinder::dependsOnChain(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::SmallDenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    while (op && op->getBlock() != block)
      op = op->getParentOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (chain.numbers.contains(op))
      return true;
    llvm::append_range(worklist, op->getOperands());
    op->walk([&](Operation *inner) {
      llvm::append_range(worklist, inner->getOperands());
    });
  }
  return false;
}

/// Element-wise ops on what the chain gives.
bool ChainFinder::addFollowing() {
  for (unsigned i = 0; i < chain.ops.size(); ++i) {
    if (chain.ops[i].role == ChainRole::Elements ||
        chain.ops[i].role == ChainRole::Added)
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : chain.ops[i].result().getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses) {
      auto user = dyn_cast<linalg::LinalgOp>(use->getOwner());
      if (!user || user->getBlock() != block || chain.numbers.contains(user) ||
          user.isDpsInit(use) || !isElementwiseOp(user))
        continue;
      AffineMap map = user.getMatchingIndexingMap(use);
      // It computes elements of the chain's rows, no others.
      if (!map.isPermutation())
        continue;
      bool reads = llvm::any_of(user.getDpsInputs(), [&](Value input) {
        return !chain.find(input) && dependsOnChain(input);
      });
      if (reads)
        continue;
      SmallVector<int64_t> loops(user.getNumLoops(), -1), resultDims;
      for (auto [expr, dim] :
           llvm::zip(map.getResults(), chain.dims.find(use->get())->second))
        loops[cast<AffineDimExpr>(expr).getPosition()] = dim;
      for (AffineExpr expr :
           user.getMatchingIndexingMap(user.getDpsInitOperand(0)).getResults())
        resultDims.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
      if (!add(user, ChainRole::Rows, resultDims))
        return false;
    }
  }
  return true;
}

/// O4, and that no other op stands between two of the chain.
bool ChainFinder::checkUses() {
  for (const ChainOp &op : chain.ops) {
    if (op.role == ChainRole::Elements && chain.isUsedOutside(op.result())) {
      culprit = op.op;
      return refuse(OnlineCondition::UsedInChain,
                    "what " + op.op->getName().getStringRef() +
                        " computes along the reduced dim is used elsewhere");
    }
    for (const ChainInput &input : op.inputs)
      if (!chain.find(input.value) && dependsOnChain(input.value))
        return refuse(OnlineCondition::UsedInChain,
                      "an op outside of it stands between two of its ops");
  }
  return true;
}

/// O1, O7.
bool ChainFinder::checkOps() {
  for (auto [number, op] : llvm::enumerate(chain.ops)) {
    if (op.isSelection()) {
      if (chain.selection)
        return refuse(OnlineCondition::Selection,
                      "several marks select what runs along the axis");
      chain.selection = number;
      chain.background = findSelection(op.op)->background;
    }
    linalg::LinalgOp computed = op.linalgOp();
    if (!computed)
      continue;
    for (const ChainInput &input : op.inputs)
      if (!takesPlainDims(input.map))
        return refuse(OnlineCondition::Structured,
                      "an operand is read by a map of more than dims");
    if (op.role != ChainRole::Elements && computed.hasIndexSemantics())
      return refuse(OnlineCondition::Structured,
                    op.op->getName().getStringRef() +
                        " asks for the numbers of its iterations");
  }
  return true;
}

void ChainFinder::sort() {
  llvm::sort(chain.ops, [](const ChainOp &x, const ChainOp &y) {
    return x.op->isBeforeInBlock(y.op);
  });
  for (auto [number, op] : llvm::enumerate(chain.ops))
    chain.numbers[op.op] = number;
}

std::optional<OnlineChain> ChainFinder::run(linalg::LinalgOp last) {
  block = last->getBlock();
  if (!isReduction(last))
    return std::nullopt;
  chain.axis = chain.numDims++;
  for (unsigned i = 1; i < last.getNumReductionLoops(); ++i)
    chain.outers.push_back(chain.numDims++);
  SmallVector<int64_t> none(
      last.getMatchingIndexingMap(last.getDpsInitOperand(0)).getNumResults(),
      -1);
  if (!add(last, ChainRole::Reduction, none) || !addElements(0))
    return std::nullopt;
  // The inputs of the chain that do not run along its axis; it may grow by
  // these.
  for (size_t before = 0; before != chain.ops.size();) {
    before = chain.ops.size();
    for (unsigned i = 0; i < chain.ops.size(); ++i)
      for (unsigned j = 0; j < chain.ops[i].inputs.size(); ++j) {
        Value value = chain.ops[i].inputs[j].value;
        if (!chain.runsAlongAxis(value) && !addRows(value))
          return std::nullopt;
      }
    if (!addUsers())
      return std::nullopt;
  }
  unsigned reductions = llvm::count_if(chain.ops, [](const ChainOp &op) {
    return op.role == ChainRole::Reduction;
  });
  // A single pass over the axis takes no chain.
  bool uses = llvm::any_of(chain.ops, [&](const ChainOp &op) {
    return op.role == ChainRole::Elements &&
           llvm::any_of(op.inputs, [&](const ChainInput &input) {
             const ChainOp *from = chain.find(input.value);
             return from && from->role != ChainRole::Elements;
           });
  });
  // Nor does a product of products, but for one of probabilities that are made
  // of the first: what an attention's gradients sum.
  bool powers = llvm::any_of(chain.ops, isInnerContraction) &&
                llvm::any_of(chain.ops, hasRelativePowers);
  // Several dims are one loop if they are summed up by products.
  bool sumsProducts =
      powers && llvm::all_of(chain.ops, [](const ChainOp &op) {
        return op.role != ChainRole::Reduction || op.inputs.size() == 2;
      });
  if ((!chain.outers.empty() && !sumsProducts) ||
      (!powers && (reductions < 2 || !uses))) {
    refused = std::nullopt;
    return std::nullopt;
  }
  for (size_t before = 0; before != chain.ops.size();) {
    before = chain.ops.size();
    if (!addFollowing())
      return std::nullopt;
  }
  if (!checkUses())
    return std::nullopt;
  sort();
  if (!checkOps())
    return std::nullopt;
  refused = findDependences(chain);
  if (!refused)
    refused = findPads(chain);
  if (refused)
    return std::nullopt;
  findBounds(chain);
  return chain;
}

OrRefusal<std::optional<OnlineChain>>
mlir::pit::findOnlineChain(linalg::LinalgOp op, FindSelection findSelection,
                           bool storesFactors, bool adds) {
  llvm::SmallDenseSet<Operation *> stored;
  while (true) {
    ChainFinder finder(findSelection, stored, storesFactors, adds);
    std::optional<OnlineChain> chain = finder.run(op);
    if (chain || !finder.culprit || !stored.insert(finder.culprit).second)
      return finder.refused
                 ? OrRefusal<std::optional<OnlineChain>>(*finder.refused)
                 : chain;
  }
}
