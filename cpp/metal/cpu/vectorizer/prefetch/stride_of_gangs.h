// Finds the distance in memory between the gangs of a row.
#pragma once

#include "metal/cpu/vectorizer/prefetch/growth.h"

namespace metal::cpu {

class GangDependence;

// From one gang of `width` threads to the next one in its row.
class StrideOfGangs : public Growth {
 public:
  StrideOfGangs(const GangDependence& dependence, uint32_t width, llvm::ScalarEvolution& evolution)
      : Growth(evolution), dependence_(dependence), width_(width) {}

 private:
  std::optional<const llvm::SCEV*> of_leaf(const llvm::SCEV* value) override;

  const GangDependence& dependence_;
  uint32_t width_;
};

}  // namespace metal::cpu
