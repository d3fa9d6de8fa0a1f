// The compiler as the runtime sees it. It is a shared library of its own, with LLVM and Clang in it
// or below it. These are large, so it is loaded when first a kernel must be compiled: kernels from
// the disk cache need none of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "metal/api.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/codegen/line_map.h"
#include "metal/cuda/code_generator.h"

namespace metal {

// Functions that compile do so on a guarded thread (compiler/guarded_thread.h), and throw
// CompileError. All are thread-safe.
class CompilerLibrary {
 public:
  virtual ~CompilerLibrary() = default;

  // What compile() does for sources that are not in the disk cache.
  virtual std::shared_ptr<Program> compile(std::string_view source,
                                           const CompileOptions& options) = 0;
  virtual void precompile(const std::string& header, const std::string& output) = 0;
  virtual std::string emit(const Program& program, std::string_view form,
                           std::string_view architecture) = 0;

  // See cpu/codegen/code_generator.h.
  virtual cpu::KernelTraits find_traits(const FunctionInfo& function,
                                        const ConstantValues& constants) = 0;
  virtual cpu::ObjectCode generate_code(const FunctionInfo& function,
                                        const ConstantValues& constants,
                                        const cpu::Variant& variant) = 0;
  virtual std::string generate_general_code(std::string_view general) = 0;
  // See cpu/codegen/processor.h.
  virtual void require_runnable() = 0;
  // See cpu/codegen/line_map.h.
  virtual void remember_code(std::string_view object, std::string_view symbol,
                             const void* address) = 0;
  virtual cpu::CodeLine line_at(uint64_t address) = 0;

  // See cuda/code_generator.h.
  virtual cuda::PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                                     std::string_view architecture,
                                     const cuda::LaunchForm& form) = 0;
};

// Loads the library at the first call (load_compiler.cpp). Throws CompileError if that fails. In
// programs that the compiler is linked into, such as tests, it is there (linked_compiler.cpp).
CompilerLibrary& compiler_library();

}  // namespace metal

// The one symbol of the shared library.
extern "C" METAL_API metal::CompilerLibrary* metal_compiler_library();
