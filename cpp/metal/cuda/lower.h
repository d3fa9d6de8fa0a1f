// The steps that bring a kernel from its device-neutral form (metal/compiler/kernel_form.h) to a
// kernel of an NVIDIA GPU; passes.def has their order.
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

// The target's data layout, and no trace of the processor that Clang compiled for.
void retarget(llvm::Module& module, const llvm::TargetMachine& target);

// Device and constant memory become global memory; what may point anywhere, a generic pointer.
// Nothing writes constant memory while a kernel runs, and loads say so.
void map_address_spaces(llvm::Module& module);

// Makes the kernel that is launched: its parameters give the arguments of the one in kernel form,
// and threads outside the grid leave at once.
llvm::Function* make_entry(llvm::Module& module, const FunctionInfo& function,
                           const LaunchForm& form, KernelInterface& interface);

// Apple's GPUs read a vector at every address that is aligned to its elements, NVIDIA's fault:
// accesses claim no more than that. The optimiser claims more again where addresses prove it, and
// the back end splits what is left.
void assume_element_alignment(llvm::Module& module);

// Atomic operations are relaxed on a GPU: stronger ones get fences around them.
void order_atomics(llvm::Module& module);

// Barriers and SIMD-group functions become instructions of a warp. Runs on optimised code, whose
// control flow decides which threads take part.
void lower_lane_operations(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cuda
