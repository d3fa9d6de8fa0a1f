// The device-neutral form of kernels, between the front end and the drivers.
//
// There is one module for each kernel. Its entry `void @<host name>(pointers...)` takes the buffer
// and threadgroup arguments in the order of the declaration, one pointer each, in address spaces 1
// (device), 2 (constant) and 3 (threadgroup). Built-in arguments are calls of `i32
// @__metal_get_<attribute>(i32 component)`; barriers and SIMD-group functions are calls of
// `@__metal_*`, as the standard library declares them. All other functions are inlined where that
// is possible. `threadgroup` variables are globals in address space 3; function constants are
// external globals in address space 2. No instruction has undefined behaviour for values that Metal
// defines: shifts are masked, divisors are never zero.
#pragma once

#include <string_view>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace metal::compiler {

inline constexpr std::string_view kBuiltinPrefix = "__metal_get_";
inline constexpr std::string_view kRuntimePrefix = "__metal_";
// os_log, as the standard library declares it (metal_logging).
inline constexpr const char* kMessageCall = "__metal_log";

struct KernelDeclaration;
struct TranslationUnit;

// Turns the IR that Clang emits into kernel form, still in one module. Throws CompileError if a
// function is undefined.
void to_kernel_form(TranslationUnit& unit);

// For threadgroup variables that are declared with zeros. find_zeroed finds them before annotations
// are removed; clear_zeroed makes the threads of each threadgroup clear them first.
std::vector<llvm::GlobalVariable*> find_zeroed(llvm::Module& module);
void clear_zeroed(llvm::Function& kernel, llvm::ArrayRef<llvm::GlobalVariable*> zeroed);

// Replaces Clang's conversions between half and bfloat, which LLVM does not have. Until then the
// module is no valid code.
void convert_through_float(llvm::Module& module);

// Masks shift amounts, guards divisors, and splits multiply-adds of half and bfloat.
void define_arithmetic(llvm::Module& module);

// Makes SIMD-group functions that a thread calls before it leaves a loop part of the iteration, as
// in the source: until then, the code that Clang emits for them is behind the loop. The number of
// the way out of an iteration is the result of kWay, i32 (i32), which returns its argument: LLVM
// would move the code behind the loop again if it knew the number.
void keep_in_loops(llvm::Module& module);
inline constexpr const char* kWay = "metal.way";
llvm::Function* way_function(llvm::Module& module);  // declares kWay
// Replaces kWay by its argument. It comes before the step that decides which threads run together.
void reveal_ways(llvm::Function& kernel);
// Does so where the argument is a constant: all threads leave the loop, or none. Tells whether
// there was one.
bool reveal_known_ways(llvm::Module& module);

// Inserts a barrier between reads of threadgroup memory that all SIMD-groups make alike and a later
// write there, if no barrier is between them. That is a race, which the reads always win on Apple's
// hardware. The calls carry the metadata kOrderBarrier, as they are not the kernel's own.
void order_simdgroups(llvm::Module& module);
inline constexpr const char* kOrderBarrier = "metal.order";

}  // namespace metal::compiler
