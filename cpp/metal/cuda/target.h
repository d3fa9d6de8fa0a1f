// NVIDIA's GPUs as targets of LLVM.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class TargetMachine;
}

namespace metal::cuda {

// The oldest that is known; later ones run its PTX too.
inline constexpr std::string_view kDefaultArchitecture = "sm_80";

// With the lowest version of PTX that the architecture has. Throws std::invalid_argument for
// architectures that are older than sm_80 or unknown.
std::unique_ptr<llvm::TargetMachine> create_target(std::string_view architecture);

// The newest of them whose PTX a GPU runs; its compute capability is 90 for 9.0, and at least 80.
std::string newest_architecture(int capability);

}  // namespace metal::cuda
