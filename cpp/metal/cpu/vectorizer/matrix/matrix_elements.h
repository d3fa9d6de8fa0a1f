// Recognises kernels' own loads of the lanes' two elements of a matrix.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

class Widener;

// Where all lanes load both of their elements, the matrix is loaded as a whole, as by
// simdgroup_load. It is used in kernels that multiply matrices.
class MatrixElements {
 public:
  MatrixElements(Widener& widener, llvm::Function& body);

  void enter(llvm::BasicBlock& block);  // before the block's instructions are widened
  bool load(llvm::LoadInst& load);      // false if it is no such load

 private:
  // The distances in bytes between rows and between columns, taken from the lanes' addresses.
  struct Steps {
    int64_t row = 0;
    int64_t column = 0;
    bool operator==(const Steps&) const = default;
  };
  struct Element {
    llvm::LoadInst* load;
    llvm::Value* root;
    int64_t offset;  // in bytes, from the root
    Steps steps;
  };
  struct Pair {
    llvm::LoadInst* first;
    llvm::LoadInst* second;
    Steps steps;
  };

  bool steps_of(const llvm::LoadInst& load, Steps& steps) const;
  void add(const Element& element);

  Widener& w_;
  bool multiplies_ = false;
  llvm::SmallVector<Element> single_;  // elements whose partner has not been found yet
  llvm::DenseMap<const llvm::LoadInst*, Pair> pairs_;
};

}  // namespace metal::cpu
