// Brings a kernel from its device-neutral form (metal/compiler/kernel_form.h) to code for one CPU
// thread, as abi.h wants it.
#pragma once

#include <cstdint>

#include "metal/compiler/compiler.h"
#include "metal/cpu/variant.h"

namespace llvm {
class Function;
class Instruction;
class Module;
class TargetMachine;
class Value;
}  // namespace llvm

namespace metal::cpu {

// Address spaces of kernel form.
inline constexpr auto kConstantMemory = static_cast<unsigned>(AddressSpace::Constant);
inline constexpr auto kThreadgroupMemory = static_cast<unsigned>(AddressSpace::Threadgroup);

// Functions say for which processor they are, and what all code must observe there.
void retarget(llvm::Module& module, const llvm::TargetMachine& target);

// `threadgroup` variables become offsets into the memory behind the body's group argument.
void lower_threadgroup_variables(llvm::Function& body);
// Bytes that they take.
uint32_t size_of_threadgroup_variables(llvm::Module& module);

// Makes the body from the kernel, with the arguments of markers.h: the kernel's own are read from
// the launch, its built-in ones computed from the position of the thread. `lanes_are_threads`: a
// gang is a SIMD-group. `row_multiple`: see Variant.
llvm::Function* make_body(llvm::Module& module, const FunctionInfo& kernel, bool lanes_are_threads,
                          uint32_t row_multiple);
// Whether an argument tells threads of the kernel apart by their threadgroup.
bool knows_threadgroup(const FunctionInfo& kernel);

// Nothing writes constant memory while a kernel runs: what threads read there need not be read
// again after a store.
void mark_constant_loads(llvm::Function& body);

// Whether threads of the kernel wait for each other: barriers and SIMD-group functions.
Cooperation find_cooperation(const llvm::Module& module);
bool has_threadgroup_barriers(const llvm::Module& module);

// Reference mode. Numbers the places where threads wait and calls the runtime there.
void lower_convergent_calls(llvm::Function& body);

// An empty entry point for code that will be inlined into it.
llvm::Function* create_entry(llvm::Function& code);
// Entry points of scalar code: a loop over the threads of a threadgroup, or one thread. The loop
// can say in Group::thread where it is, which costs LLVM's optimisations across threads.
llvm::Function* make_group_entry(llvm::Function& body, bool says_thread);
llvm::Function* make_thread_entry(llvm::Function& body);

// Arithmetic in bfloat becomes arithmetic in float and a rounding.
void expand_bfloat(llvm::Module& module);
// So does that of vectors of half, and vectors of bfloat move as numbers, for processors that know
// neither: LLVM would take them apart. Done just before code is generated, as LLVM's own
// simplifications prefer the smaller types.
void expand_small_vectors(llvm::Module& module);
// The bits of a vector of half or bfloat for a user, from where it is made on: the code generator
// would see through a cast in the user's own block.
llvm::Value* bits_of(llvm::Value* floats, llvm::Instruction& user);

}  // namespace metal::cpu
