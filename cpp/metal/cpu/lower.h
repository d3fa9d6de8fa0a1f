// Brings a kernel from its device-neutral form (metal/compiler/kernel_form.h) to code for one CPU
// thread, as abi.h wants it.
#pragma once

#include <cstdint>

#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// `threadgroup` variables become offsets into the memory behind the body's group argument. Returns
// their size in bytes.
uint32_t lower_threadgroup_variables(llvm::Function& body);

// Makes `body(Group*, x, y, z, index)` from the kernel: its arguments are read from the launch, its
// built-in arguments computed from the position of the thread.
llvm::Function* make_body(llvm::Module& module, const FunctionInfo& kernel);

// Whether threads of the kernel wait for each other: barriers and SIMD-group functions.
bool has_convergent_calls(const llvm::Module& module);

// Reference mode. Numbers the places where threads wait and calls the runtime there.
void lower_convergent_calls(llvm::Function& body);

// Builds the entry point: a loop over the threads of a threadgroup, or one thread.
llvm::Function* make_group_entry(llvm::Function& body);
llvm::Function* make_thread_entry(llvm::Function& body);

// Arithmetic in bfloat becomes arithmetic in float and a rounding.
void expand_bfloat(llvm::Module& module);

}  // namespace metal::cpu
