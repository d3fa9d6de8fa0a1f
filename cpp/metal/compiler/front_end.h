// Uses Clang as a front end for MSL, from source text to LLVM IR and a description of its kernels.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/compiler.h"

namespace metal::compiler {

// The type of a built-in argument: a scalar or vector of 16- or 32-bit integers.
struct BuiltinType {
  Builtin builtin = Builtin::ThreadPositionInGrid;
  uint32_t element_bytes = 4;
  uint32_t components = 1;
};

struct KernelArgument {
  ArgumentInfo info;
  BuiltinType builtin;  // only for built-in arguments
  uint32_t bytes = 0;   // size of the argument's own type
  // Of the first element of an array of buffers: how many elements there are. Each is an argument.
  uint32_t array_elements = 0;
};

struct KernelDeclaration {
  std::string symbol;  // of the function in the module
  std::string name;    // the name for the host
  std::vector<KernelArgument> arguments;
  uint32_t max_total_threads = 0;
};

struct TranslationUnit {
  std::unique_ptr<llvm::Module> module;
  std::vector<KernelDeclaration> kernels;
  std::vector<FunctionConstantInfo> constants;
  std::string warnings;
  std::vector<CheckReport> apple_reports;
  bool keeps_branches = false;  // those of the source, also where code without them does the same
  bool marks_lines = false;     // for coverage
  bool marks_stops = false;     // for a debugger
  bool marks_math = false;      // see math_calls.h
  std::vector<std::string> inputs;  // the user's files, without those of the standard library
};

// Throws CompileError with Clang's diagnostics.
TranslationUnit parse(std::string_view source, const CompileOptions& options,
                      llvm::LLVMContext& context);

// Precompiles a header of the standard library into `output`.
void precompile_header(const std::string& header, const std::string& output);

}  // namespace metal::compiler
