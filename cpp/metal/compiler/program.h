// From source to a program of kernels in kernel form (kernel_form.h).
#pragma once

#include <memory>
#include <string_view>

#include "metal/compiler/compiler.h"

namespace metal::compiler {

// compile() without the disk cache. Only for guarded threads.
std::shared_ptr<Program> compile_here(std::string_view source, const CompileOptions& options);

}  // namespace metal::compiler
