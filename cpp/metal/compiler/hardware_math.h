// Functions of the math library that GPUs have an instruction for.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

// fast_exp_base and fast_log2 of the standard library, which have a body for other processors. They
// stay calls in kernel form.
inline constexpr const char* kHardwareExp = "__metal_math_exp";    // base^x: (x, log2 of the base)
inline constexpr const char* kHardwareLog2 = "__metal_math_log2";  // (x)

bool is_hardware_math(const llvm::Function& function);
// Keeps the function from being inlined, and lets its calls move.
void keep_hardware_math(llvm::Function& function);
// For processors without such instructions.
void inline_hardware_math(llvm::Module& module);

}  // namespace metal::compiler
