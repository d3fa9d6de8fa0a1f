// The steps from device-neutral kernel form (metal/compiler/kernel_form.h) to code for one CPU
// thread, as abi.h describes it.
#pragma once

#include <cstdint>

#include "metal/compiler/compiler.h"
#include "metal/cpu/variant.h"

namespace llvm {
class Function;
class IRBuilderBase;
class Instruction;
class Module;
class TargetMachine;
class Value;
}  // namespace llvm

namespace metal::cpu {

// Address spaces of kernel form.
inline constexpr auto kConstantMemory = static_cast<unsigned>(AddressSpace::Constant);
inline constexpr auto kThreadgroupMemory = static_cast<unsigned>(AddressSpace::Threadgroup);

// Gives functions the attributes for this processor, and those that all CPU code needs.
void retarget(llvm::Module& module, const llvm::TargetMachine& target);

struct BodyForm {
  bool lanes_are_threads = false;  // a gang is a SIMD-group
  uint32_t row_multiple = 1;       // see Variant
  bool few_threads = false;        // see Variant
  // The threads in a row of the threadgroup, and its rows, if it is known to have these and only
  // one layer. Otherwise 0.
  uint32_t row = 0;
  uint32_t rows = 0;
  JoinedGroups joined = {};
};

// Which of the threadgroups that run as one a thread of the body belongs to.
llvm::Value* number_in_joined(llvm::IRBuilderBase& b, llvm::Function& body, const BodyForm& form);

// Turns `threadgroup` variables into offsets into the memory that the body's group argument points
// to. Threadgroups that run as one have theirs one behind the other.
void lower_threadgroup_variables(llvm::Function& body, const BodyForm& form);
// The bytes that these variables take in a threadgroup.
uint32_t size_of_threadgroup_variables(llvm::Module& module);

// Makes the body from the kernel, with the arguments of markers.h. The kernel's own arguments are
// read from the launch, its built-in ones are computed from the thread's position.
llvm::Function* make_body(llvm::Module& module, const FunctionInfo& kernel, const BodyForm& form);
// Whether the kernel has an argument that depends on the threadgroup.
bool depends_on_threadgroup(const FunctionInfo& kernel);

// Makes messages (os_log) calls of the runtime, with the thread's position in the grid.
void lower_messages(llvm::Module& module);

// Marks loads from constant memory as invariant, as nothing writes there while a kernel runs.
void mark_constant_loads(llvm::Function& body);

// Finds out whether threads wait for each other, at barriers or in SIMD-group functions.
Cooperation find_cooperation(const llvm::Module& module);
bool has_threadgroup_barriers(const llvm::Module& module);

// For the reference mode: numbers the calls at which threads wait, and makes them runtime calls.
void lower_convergent_calls(llvm::Function& body);

// Creates an empty entry point, into which `code` will be inlined.
llvm::Function* create_entry(llvm::Function& code);
// Make entry points of scalar code: one loops over the threads of a threadgroup, one runs one
// thread. With `records_thread` the loop stores the running thread's index in Group::thread; LLVM
// then cannot optimise across threads.
llvm::Function* make_group_entry(llvm::Function& body, bool records_thread);
llvm::Function* make_thread_entry(llvm::Function& body);

// Turns bfloat arithmetic into float arithmetic and a rounding.
void expand_bfloat(llvm::Module& module);
// Does the same for vectors of half, and moves vectors of bfloat as integers, for processors that
// have neither type: LLVM would split such vectors into elements. It runs just before code is
// generated, because LLVM's simplifications prefer the smaller types.
void expand_small_vectors(llvm::Module& module);
// The bits of a vector of half or bfloat, for `user`. They are made where the vector is made: the
// code generator would undo a cast in the user's own block.
llvm::Value* bits_of(llvm::Value* floats, llvm::Instruction& user);

}  // namespace metal::cpu
