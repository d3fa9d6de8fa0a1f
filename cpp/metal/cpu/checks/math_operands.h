// What the marks of math_calls.h tell of a kernel.
#pragma once

#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugLoc.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace metal::cpu {

// A call of the math library that has been inlined.
struct MathCall {
  std::string name;
  llvm::SmallVector<llvm::Value*, 3> operands;  // that are floats
  llvm::DebugLoc location;
};

// By their results.
using MathCalls = llvm::DenseMap<llvm::Value*, MathCall>;

// Takes the marks out of the kernel.
MathCalls take_math_calls(llvm::Function& kernel);

}  // namespace metal::cpu
