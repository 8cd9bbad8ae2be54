//===- TileBodyInfo.cpp - What runs along what in a tile body -------------===//

#include "TileBodyInfo.h"

#include "pit/Analysis/Refusal.h"

using namespace mlir;
using namespace mlir::pit;

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<VectorType>(tile.getType()).getShape();
}

int64_t TileBodyInfo::extent(Value tile, TileRole role) const {
  for (auto [is, extent] : llvm::zip(rolesOf(tile), shapeOf(tile)))
    if (is == role)
      return extent;
  return 1;
}

/// Calls `body` for each tile of an op that has roles, and the map to it.
static void forTiles(PointwiseOp op,
                     function_ref<void(Value, AffineMap)> body) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    body(input, op.getMap(i));
  if (op.getAcc())
    body(op.getAcc(), op.getResultMap());
  body(op.getResult(), op.getResultMap());
}

SmallVector<TileRole> TileBodyInfo::dimRoles(PointwiseOp op) const {
  SmallVector<TileRole> dims(op.getTile().size(), TileRole::None);
  forTiles(op, [&](Value tile, AffineMap map) {
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        if (rolesOf(tile)[i] != TileRole::None)
          dims[dim.getPosition()] = rolesOf(tile)[i];
  });
  return dims;
}

OrRefusal<ContractionDims> mlir::pit::findContractionDims(ContractOp op) {
  ContractionDims dims;
  for (auto [d, extent] : llvm::enumerate(op.getTile())) {
    if (extent == 1)
      continue;
    bool inA = op.getMap(0).isFunctionOfDim(d),
         inB = op.getMap(1).isFunctionOfDim(d),
         inSum = op.getMap(2).isFunctionOfDim(d);
    int *part = inA && inB && !inSum   ? &dims.k
                : inA && !inB && inSum ? &dims.m
                : !inA && inB && inSum ? &dims.n
                                       : nullptr;
    if (!part || *part >= 0)
      return refuse("a contraction has several dimensions for one of m, "
                    "n and k, or one for none of them");
    *part = d;
  }
  if (dims.m < 0 || dims.n < 0 || dims.k < 0)
    return refuse("a contraction has a single row, column or product");
  return dims;
}

StoreOp mlir::pit::storeOf(ContractOp op) {
  Value result = op.getResult();
  return result.hasOneUse() ? dyn_cast<StoreOp>(*result.user_begin())
                            : StoreOp();
}

bool mlir::pit::isOfStore(PointwiseOp op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto contract = dyn_cast<ContractOp>(user);
    return contract && contract.getAcc() == op.getResult() && storeOf(contract);
  });
}

namespace {

/// Hands roles on from tile to tile until all are known.
class RoleFinder {
public:
  explicit RoleFinder(MainloopOp mainloop) : mainloop(mainloop) {}

  OrRefusal<TileBodyInfo> run() {
    Block &compute = mainloop.getCompute().front();
    do {
      changed = false;
      for (Operation &op : compute.without_terminator())
        if (auto contract = dyn_cast<ContractOp>(op))
          visit(contract);
        else if (auto pointwise = dyn_cast<PointwiseOp>(op);
                 pointwise && !isOfStore(pointwise))
          visit(pointwise);
      auto carried = mainloop.getCarriedTiles();
      for (auto [tile, next] :
           llvm::zip(carried, compute.getTerminator()->getOperands()))
        share(tile, next);
      for (auto [tile, last] : llvm::zip(carried, mainloop.getLastTiles()))
        share(tile, last);
      mainloop.getExtraResults().walk([&](PointwiseOp op) { visit(op); });
    } while (changed && !refused);
    if (!refused)
      check();
    if (refused)
      return *refused;
    return info;
  }

private:
  SmallVector<TileRole> &rolesOf(Value tile) {
    SmallVector<TileRole> &roles = info.roles[tile];
    if (roles.empty())
      roles.assign(shapeOf(tile).size(), TileRole::None);
    return roles;
  }

  void merge(Value tile, unsigned dim, TileRole role) {
    if (role == TileRole::None || shapeOf(tile)[dim] == 1)
      return;
    TileRole &known = rolesOf(tile)[dim];
    if (known == role)
      return;
    if (known != TileRole::None) {
      refused = refuse("a dimension runs along the rows of one tile and along "
                       "the columns of another");
      return;
    }
    known = role;
    changed = true;
  }

  void merge(Value tile, AffineMap map, unsigned dim, TileRole role) {
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (result == getAffineDimExpr(dim, map.getContext()))
        merge(tile, i, role);
  }

  /// Both are the same tile, before and after a step.
  void share(Value tile, Value other) {
    rolesOf(tile), rolesOf(other);
    for (size_t d = 0; d < shapeOf(tile).size(); ++d) {
      merge(tile, d, rolesOf(other)[d]);
      merge(other, d, rolesOf(tile)[d]);
    }
  }

  void visit(ContractOp op) {
    OrRefusal<ContractionDims> dims = findContractionDims(op);
    if (!dims) {
      refused = dims.refusal();
      return;
    }
    if (storeOf(op)) {
      if (op.getLhs().getDefiningOp()) {
        merge(op.getLhs(), op.getMap(0), dims->k, TileRole::Row);
        merge(op.getLhs(), op.getMap(0), dims->m, TileRole::Col);
      }
      return;
    }
    for (Value sums : {op.getAcc(), op.getResult()}) {
      merge(sums, op.getMap(2), dims->m, TileRole::Row);
      merge(sums, op.getMap(2), dims->n, TileRole::Col);
    }
    if (!op.getLhs().getDefiningOp())
      return;
    merge(op.getLhs(), op.getMap(0), dims->m, TileRole::Row);
    merge(op.getLhs(), op.getMap(0), dims->k, TileRole::Col);
  }

  void visit(PointwiseOp op) {
    forTiles(op, [&](Value tile, AffineMap) { rolesOf(tile); });
    SmallVector<TileRole> dims = info.dimRoles(op);
    forTiles(op, [&](Value tile, AffineMap map) {
      for (auto [d, role] : llvm::enumerate(dims))
        merge(tile, map, d, role);
    });
  }

  void check() {
    for (auto &[tile, roles] : info.roles)
      for (auto [d, role] : llvm::enumerate(roles)) {
        int64_t extent = shapeOf(tile)[d];
        if (extent == 1)
          continue;
        if (role == TileRole::None || llvm::count(roles, role) > 1)
          refused = refuse("it is not known what the rows of a tile are");
        else if (role == TileRole::Row && info.rows != 1 && info.rows != extent)
          refused = refuse("tiles have different numbers of rows");
        else if (role == TileRole::Row)
          info.rows = extent;
      }
  }

  MainloopOp mainloop;
  Refused refused;
  TileBodyInfo info;
  bool changed = false;
};

} // namespace

OrRefusal<TileBodyInfo> mlir::pit::describeTileBody(MainloopOp mainloop) {
  return RoleFinder(mainloop).run();
}
