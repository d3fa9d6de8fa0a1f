// Converts LLVM modules to bytes and text, and back.
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

// Lets errors that LLVM reports abandon the work (see abandon()) instead of ending the process.
// Warnings are dropped.
void abandon_on_errors(llvm::LLVMContext& context);

std::string write_bitcode(const llvm::Module& module);

// Throws CompileError if the bytes are no bitcode. Later errors abandon the work.
std::unique_ptr<llvm::Module> read_bitcode(std::string_view bitcode, llvm::LLVMContext& context);

// Whether LLVM may move the instructions of a block to hide latencies.
enum class InstructionOrder { Scheduled, AsIs };

// Makes assembly text or an object file. Throws CompileError if the target cannot.
std::string emit_file(llvm::Module& module, llvm::TargetMachine& target, llvm::CodeGenFileType type,
                      InstructionOrder order = InstructionOrder::Scheduled);

std::string print_ir(const llvm::Module& module);

// Deletes unused functions and variables, declarations included.
void remove_unused(llvm::Module& module);

}  // namespace metal::compiler
