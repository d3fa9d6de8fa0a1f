// Declares calls of markers.h that say or ask something of the lanes.
#pragma once

#include "llvm/IR/DerivedTypes.h"

namespace llvm {
class Module;
}

namespace metal::cpu {

// A function without an argument, or with one bit. If it has a result, it is one of the lanes' bits
// only, and may be called where no lane is active.
llvm::FunctionCallee declare_marker(llvm::Module& module, const char* name, llvm::Type* result,
                                    bool has_argument);

}  // namespace metal::cpu
