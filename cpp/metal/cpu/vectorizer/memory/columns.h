// Columns: what the lanes of a gang read if each is a constant distance further than the one
// before, so that every lane reads another row of memory, as in a transposition.
//
// A column takes as many loads as there are lanes, each of a block of which one element is needed.
// The column beside it takes the same loads. So a column stays a call until all code is there that
// may read its neighbours: other iterations of unrolled loops, and other gangs where these are
// jammed. Then neighbours are read together.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// Reads a vector with the elements at `first`, `first + distance`, and so on; the distance is in
// bytes. Blocks of kBlockBytes that contain these elements must be readable, too.
llvm::CallInst* create_column(llvm::IRBuilder<>& builder, llvm::Type* vector, llvm::Value* first,
                              int64_t distance, llvm::Align align);

bool is_column(const llvm::Instruction& instruction);
llvm::Value* first_of_column(const llvm::CallInst& column);
// From the first element to the end of the last.
int64_t bytes_of_column(const llvm::CallInst& column);

// Replaces columns by loads of blocks and shuffles.
void join_columns(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses,
                  const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
