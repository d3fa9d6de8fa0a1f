// Functions of the math library that GPUs have an instruction for.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Functions of the standard library that have a body for other processors. They stay calls in
// kernel form. The first three are base^x: (x, log2 of the base). For half, x and the result are
// floats. The others have one argument.
inline constexpr const char* kHardwareExp = "__metal_math_exp";  // fast, for floats
inline constexpr const char* kHardwareExpOfHalf = "__metal_math_exp_half";
inline constexpr const char* kHardwareExpOfBfloat = "__metal_math_exp_bfloat";
inline constexpr const char* kHardwareExpPrecise = "__metal_math_exp_precise";  // for floats
inline constexpr const char* kHardwareLog2 = "__metal_math_log2";               // fast, for floats

bool is_hardware_math(const llvm::Function& function);
// Keeps the function from being inlined, and lets its calls move.
void keep_hardware_math(llvm::Function& function);
// The calls in one function.
void inline_hardware_math(llvm::Function& caller);
// For processors without such instructions.
void inline_hardware_math(llvm::Module& module);

}  // namespace metal::compiler
