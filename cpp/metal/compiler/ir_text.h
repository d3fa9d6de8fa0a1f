// LLVM modules to bytes and text, and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "llvm/IR/Module.h"

namespace metal::compiler {

std::string write_bitcode(const llvm::Module& module);

// Throws CompileError for bytes that are no bitcode.
std::unique_ptr<llvm::Module> read_bitcode(std::string_view bitcode, llvm::LLVMContext& context);

std::string print_ir(const llvm::Module& module);

// Deletes functions and variables that nothing refers to, declarations included.
void remove_unused(llvm::Module& module);

}  // namespace metal::compiler
