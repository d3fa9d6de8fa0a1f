// Indices that have another form at the edges of the data: there, they turn back or go on at the
// other side.
#pragma once

#include <optional>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

class ShapeAnalysis;

// What an instruction computes in lanes inside: `inside`, if the comparison of a and b is true.
struct EdgeIndex {
  llvm::Value* inside;
  llvm::ICmpInst::Predicate predicate;
  llvm::Value* a;
  llvm::Value* b;
};

// The forms of a body's indices: distances from an edge as in `abs(i)`, choices as in
// `i == 0 ? n - 1 : i - 1`, and remainders as in `(i + 1) % 1024` if several of them have one size.
// A single remainder is more often part of taking an index apart.
class EdgeIndices {
 public:
  EdgeIndices(llvm::Function& body, const ShapeAnalysis& shapes);

  // May make the instructions that compute `inside`, in front of the instruction.
  std::optional<EdgeIndex> find(llvm::Instruction& instruction) const;

 private:
  std::optional<EdgeIndex> find_remainder(llvm::Instruction& remainder) const;
  std::optional<EdgeIndex> find_choice(llvm::SelectInst& choice) const;
  bool is_index(const llvm::Value* value) const;

  const ShapeAnalysis& shapes_;
  llvm::SmallPtrSet<const llvm::Instruction*, 8> remainders_;  // those of windows
};

}  // namespace metal::cpu
