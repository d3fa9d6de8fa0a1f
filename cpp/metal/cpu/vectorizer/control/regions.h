// Finds the nested branches and loops that linearisation replaces, the innermost first.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

struct DivergentLoop {
  llvm::BasicBlock* preheader;
  llvm::BasicBlock* header;
  llvm::BasicBlock* exit;
};

struct Regions {
  // Branches with a region of their own. It is entered only through them and left only to the block
  // that they map to.
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> joins;
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> loop_exits;  // by header
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> position;       // in reverse post-order
  // A divergent branch in `joins`, or a divergent loop. The innermost come first.
  struct Divergent {
    llvm::BasicBlock* branch = nullptr;
    DivergentLoop loop{};
  };
  llvm::SmallVector<Divergent> divergent;
};

// Finds the regions, and gives each a join block of its own.
Regions find_regions(llvm::Function& body, const BodyShapes& shapes);

}  // namespace metal::cpu
