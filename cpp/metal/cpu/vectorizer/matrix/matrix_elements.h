// Loads of the lanes' two elements of a matrix that kernels write by themselves.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

class Widener;

// Where all lanes load both of their elements, the matrix is loaded as a whole, as simdgroup_load
// does. That is for kernels that multiply matrices.
class MatrixElements {
 public:
  MatrixElements(Widener& widener, llvm::Function& body);

  void enter(llvm::BasicBlock& block);  // before its instructions
  bool load(llvm::LoadInst& load);      // false if it is none of these

 private:
  // Bytes from row to row and from column to column, as the lanes' addresses have it.
  struct Steps {
    int64_t row = 0;
    int64_t column = 0;
    bool operator==(const Steps&) const = default;
  };
  struct Element {
    llvm::LoadInst* load;
    llvm::Value* root;
    int64_t offset;  // bytes behind the root
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
  llvm::SmallVector<Element> single_;  // which may still get another
  llvm::DenseMap<const llvm::LoadInst*, Pair> pairs_;
};

}  // namespace metal::cpu
