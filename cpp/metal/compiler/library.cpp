// The compiler's shared library: what it offers to the runtime.
#include <stdexcept>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/front_end.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/program.h"
#include "metal/compiler_library.h"
#include "metal/cpu/codegen/processor.h"

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

std::string emit_program(const Program& program, std::string_view form,
                         std::string_view architecture) {
  if (form == "ptx") {
    return cuda::print_ptx(program.functions,
                           architecture.empty() ? cuda::kDefaultArchitecture : architecture);
  }
  std::string text;
  for (const FunctionInfo& function : program.functions) text += emit_function(function, form);
  return text;
}

template <typename Compute>
auto guarded(Compute compute) {
  decltype(compute()) result;
  compiler::run_guarded([&] { result = compute(); });
  return result;
}

class Compiler : public CompilerLibrary {
 public:
  std::shared_ptr<Program> compile(std::string_view source,
                                   const CompileOptions& options) override {
    return guarded([&] { return compiler::compile_here(source, options); });
  }

  void precompile(const std::string& header, const std::string& output) override {
    compiler::run_guarded([&] { compiler::precompile_header(header, output); });
  }

  std::string emit(const Program& program, std::string_view form,
                   std::string_view architecture) override {
    return guarded([&] { return emit_program(program, form, architecture); });
  }

  cpu::KernelTraits find_traits(const FunctionInfo& function,
                                const ConstantValues& constants) override {
    return guarded([&] { return cpu::find_traits(function, constants); });
  }

  cpu::ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants,
                                const cpu::Variant& variant) override {
    return guarded([&] { return cpu::generate_code(function, constants, variant); });
  }

  std::string generate_general_code(std::string_view general) override {
    return guarded([&] { return cpu::generate_general_code(general); });
  }

  void require_runnable() override { cpu::require_runnable(); }

  void remember_code(std::string_view object, std::string_view symbol,
                     const void* address) override {
    cpu::remember_code(object, symbol, address);
  }
  cpu::CodeLine line_at(uint64_t address) override { return cpu::line_at(address); }

  cuda::PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                             std::string_view architecture, const cuda::LaunchForm& form) override {
    return guarded([&] { return cuda::generate_ptx(function, constants, architecture, form); });
  }
};

}  // namespace
}  // namespace metal

metal::CompilerLibrary* metal_compiler_library() {
  static metal::Compiler& compiler = *new metal::Compiler;  // used until the process ends
  return &compiler;
}
