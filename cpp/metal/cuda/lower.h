// The steps from device-neutral kernel form (metal/compiler/kernel_form.h) to a kernel for an
// NVIDIA GPU, in the order of passes.def.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/compiler/compiler.h"
#include "metal/cuda/kernel_interface.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cuda {

// Address spaces of the GPU.
inline constexpr unsigned kGlobal = 1;
inline constexpr unsigned kShared = 3;

// Throws CompileError if the kernel has messages (os_log): only CPUs print them.
void refuse_messages(const llvm::Module& module);

// Gives the module the target's data layout, and removes the attributes of the processor that Clang
// compiled for.
void retarget(llvm::Module& module, const llvm::TargetMachine& target);

// Turns device memory into global memory, and pointers to any memory into generic pointers.
// Constant memory is global memory, too, unless the launch passes bytes of it by value: then its
// pointers are generic. Marks loads from constant memory as invariant, as nothing writes there
// while a kernel runs.
void map_address_spaces(llvm::Module& module, const LaunchForm& form);

// Makes the kernel that is launched. It computes the arguments of the kernel in kernel form from
// its own parameters. Threads outside the grid return at once.
llvm::Function* make_entry(llvm::Module& module, const FunctionInfo& function, LaunchForm form,
                           KernelInterface& interface);

// Lets the optimiser join accesses to elements that lie side by side: threadgroup variables begin
// where a vector may, and a copy of a few vectors becomes loads and stores of vectors.
void prepare_vectors(llvm::Module& module);

// Proves a higher alignment of accesses where their addresses have one. LLVM's passes look only at
// the last few steps by which an address is computed.
void find_alignment(llvm::Function& kernel);

// Makes one access of several whose elements lie side by side, where a test at run time shows that
// the address is a multiple of their size. It runs after find_alignment, and leaves accesses as
// they are whose alignment is proved.
void test_alignment(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

// Makes atomic operations relaxed, as the GPU's are, and puts fences around stronger ones.
void order_atomics(llvm::Module& module);

// Computes functions of the math library by instructions where these are accurate enough.
void lower_math(llvm::Module& module);

// Divides by instructions that may differ by 2 ulp from the exact result, where that is allowed.
void lower_divisions(llvm::Function& entry);

// Computes two bitwise operations with constants by one instruction. The driver's compiler does so
// only if one of them has a constant.
void join_bitwise_operations(llvm::Function& entry);

// Inlines loads and stores of matrices, but for loads that lower_matrix_loads may do better.
void inline_matrix_accesses(llvm::Module& module);

// Makes the function that multiplies matrices return its two elements as they are, not as bits of
// one number: the optimiser would carry that number through loops.
void split_matrix_results(llvm::Module& module);

// Computes products of matrices of 16-bit elements by instructions of the whole warp, which sum
// them as floats, where all threads of a SIMD-group run the same code. It runs on optimised code,
// in which loops over parts of larger matrices are unrolled.
void lower_matrix_products(llvm::Function& kernel);

// Reads the rows of matrices of 16-bit elements in threadgroup memory by instructions of the whole
// warp, where they are aligned. The function that loads such a matrix is not inlined before.
void lower_matrix_loads(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

// Turns barriers and SIMD-group functions into instructions of a warp. It runs on optimised code,
// whose control flow decides which threads are active.
void lower_lane_operations(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

// Redirects ways into a block that only branches, on a condition by which they branched before.
// LLVM's passes do so only without divergence. ptxas 13.0 joins such branches and one that returns,
// and negates only one of the conditions that `p && q` is made of.
void fold_known_branches(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

// Keeps NVIDIA's assembler from unrolling loops, which LLVM has unrolled where that pays.
// ptxas 13.0 and the drivers of its time do it wrong for some loops: for one that counts down while
// its counter is less than 0x80000001 (unsigned), which is how LLVM writes `i >= 0` at times, they
// take a difference that overflows for the number of iterations left; and they compute an invariant
// value only on the way to the unrolled loop, though the loop for the rest needs it, too.
void disable_unrolling(llvm::Module& module);

// Computes negations, absolute values, minima and maxima of 8 and 16 bits with 32. ptxas 13.0 takes
// neg.s16 and abs.s16 for operations that do not overflow: it extends the operand instead of the
// result, and -(-32768) becomes 32768 as an int. Where min.s16(x, 3) is compared with 3, it
// branches the wrong way.
// LLVM's back end narrows some of these operations again where only 16 bits of them are used.
void widen_small_integers(llvm::Module& module);

}  // namespace metal::cuda
