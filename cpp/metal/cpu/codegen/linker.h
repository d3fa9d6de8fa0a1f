// Loads object files of kernels into the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// Code in memory; freed with the object.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  EntryPoint entry = nullptr;
};

// Binds the object's references to the runtime calls and the few memory functions that generated
// code may need, and to nothing else of the process. `compile_general` makes the object file of its
// GeneralCode.
std::unique_ptr<LoadedCode> load_object(std::string_view object,
                                        std::function<std::string()> compile_general);

}  // namespace metal::cpu
