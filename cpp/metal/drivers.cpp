// The devices that this build has: who drives them, and who shows what kernels become on them.
#include <stdexcept>
#include <string>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/ir_text.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/cpu_driver.h"
#include "metal/cuda/code_generator.h"
#include "metal/driver.h"

namespace metal {
namespace {

std::string emit_function(const FunctionInfo& function, std::string_view form) {
  if (form == "llvm-opt" || form == "asm") return cpu::print_code(function, form, {256, 1, 1});
  if (form != "llvm") {
    throw std::invalid_argument("--emit " + std::string(form) +
                                ": expected llvm, llvm-opt, asm or ptx");
  }
  llvm::LLVMContext context;
  return compiler::print_ir(*compiler::read_bitcode(function.bitcode, context));
}

}  // namespace

Driver& default_driver() { return cpu::cpu_driver(); }

std::string emit(const Program& program, std::string_view form, std::string_view architecture) {
  std::string text;
  compiler::run_guarded([&] {
    if (form == "ptx") {
      text = cuda::print_ptx(program.functions,
                             architecture.empty() ? cuda::kDefaultArchitecture : architecture);
      return;
    }
    for (const FunctionInfo& function : program.functions) text += emit_function(function, form);
  });
  return text;
}

}  // namespace metal
