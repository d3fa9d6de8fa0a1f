// Loads object files of kernels into the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// Machine code in memory. The destructor frees it.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  EntryPoint entry = nullptr;
};

// Binds the object's references to the runtime calls and to the few memory functions that generated
// code may need, and to nothing else in the process. `compile_general` makes the object file for
// the object's GeneralCode. `remembered`: profiles know its lines (line_map.h).
std::unique_ptr<LoadedCode> load_object(std::string_view object,
                                        std::function<std::string()> compile_general,
                                        bool remembered = false);

}  // namespace metal::cpu
