// NVIDIA's GPUs as LLVM targets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class TargetMachine;
}

namespace metal::cuda {

// The oldest supported architecture; later ones run its PTX, too.
inline constexpr std::string_view kDefaultArchitecture = "sm_80";

// Uses the lowest version of PTX that supports the architecture. Throws std::invalid_argument for
// architectures that are unknown or older than sm_80.
std::unique_ptr<llvm::TargetMachine> create_target(std::string_view architecture);

// The newest known architecture whose PTX a GPU can run. Its compute capability is 90 for 9.0, and
// at least 80.
std::string newest_architecture(int capability);

}  // namespace metal::cuda
