// What instructions the processor at hand has.
#pragma once

#include "llvm/ADT/StringMap.h"

namespace metal::cpu {

// By LLVM's names. A feature that is not listed only tunes code, or kernels have no use for it.
llvm::StringMap<bool> host_features();

}  // namespace metal::cpu
