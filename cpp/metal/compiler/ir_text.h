// LLVM modules to bytes and text, and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class TargetMachine;
}

namespace metal::compiler {

// Errors that LLVM reports on the way end the work, see abandon(); by default they end the process.
// Warnings are dropped.
void abandon_on_errors(llvm::LLVMContext& context);

std::string write_bitcode(const llvm::Module& module);

// Throws CompileError for bytes that are no bitcode. Later errors abandon the work.
std::unique_ptr<llvm::Module> read_bitcode(std::string_view bitcode, llvm::LLVMContext& context);

// Assembly text or an object file. Throws CompileError if the target has no such form.
std::string emit_file(llvm::Module& module, llvm::TargetMachine& target,
                      llvm::CodeGenFileType type);

std::string print_ir(const llvm::Module& module);

// Deletes functions and variables that nothing refers to, declarations included.
void remove_unused(llvm::Module& module);

}  // namespace metal::compiler
