// NVIDIA's GPUs as LLVM targets.
#pragma once

#include <memory>
#include <string_view>

namespace llvm {
class TargetMachine;
}

namespace metal::cuda {

// Uses the lowest version of PTX that supports the architecture. Throws std::invalid_argument for
// architectures that are unknown or older than sm_80.
std::unique_ptr<llvm::TargetMachine> create_target(std::string_view architecture);

}  // namespace metal::cuda
