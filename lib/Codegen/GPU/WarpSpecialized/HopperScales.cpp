//===- HopperScales.cpp - Scales beside the stages of a ring --------------===//

#include "HopperScales.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

HopperScaleLoader::HopperScaleLoader(Emitter &e, const HopperTile &tile,
                                     MainloopSteps &steps)
    : e(e), plan(tile.plan), self(tile.self), steps(steps) {
  steps.enter(e.i32(0));
  for (const HopperScales &wanted : plan.scales) {
    ScaleView scale;
    for (size_t i = 0; i < plan.pairs.size(); ++i)
      for (const ScaleView &view :
           scaleViews(tile.mainloop, i, plan.mDim, plan.nDim))
        if (view.view == wanted.view)
          scale = view;
    TileAccess access = steps.access(scale.view);
    for (int64_t first = 0; first < wanted.count; first += kWarpgroup) {
      Value position = e.add(self.thread, first);
      auto [offset, exists] = placeAlongTile(e, scale, access, position);
      Value to = e.add(e.mul(position, kScaleBytes), wanted.offset);
      places.push_back({scale, offset, exists,
                        e.lessThan(position, e.i32(wanted.count)), to});
    }
  }
}

SmallVector<HopperScaleCopy> HopperScaleLoader::prepareStep() {
  SmallVector<HopperScaleCopy> copies;
  for (const Place &place : places) {
    TileAccess access = steps.access(place.scale.view);
    Value offset = e.add(place.offset, placeAlongSteps(e, place.scale, access));
    copies.push_back({elementAddress(e, access, offset), place.exists,
                      place.isMine, place.to});
  }
  return copies;
}

void HopperScaleLoader::issue(ArrayRef<HopperScaleCopy> copies, Value stage) {
  Value first = e.add(self.shared.scales, e.mul(stage, plan.scalesBytes()));
  for (const HopperScaleCopy &copy : copies)
    e.ifThen(copy.isMine, [&] {
      pitgpu::CopyOp::create(e.b, e.loc, copy.from, copy.exists,
                             e.add(first, copy.to), kScaleBytes);
    });
}

Value cuda::readScale(Emitter &e, const HopperPlan &plan, Value first,
                      Value stage, const ScaleView &scale, Value position) {
  const HopperScales *found =
      llvm::find_if(plan.scales, [&](const HopperScales &scales) {
        return scales.view == scale.view;
      });
  Value byte =
      e.add(e.mul(stage, plan.scalesBytes()), e.mul(position, kScaleBytes));
  byte = e.add(byte, found->offset);
  return e.load(e.b.getF32Type(), e.sharedPointer(e.add(first, byte)),
                kScaleBytes);
}
