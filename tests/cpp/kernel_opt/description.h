// Reads the description of a kernel from the metadata of a test.
#pragma once

#include "llvm/IR/Module.h"
#include "metal/checks.h"
#include "metal/compiler/front_end.h"
#include "metal/cpu/variant.h"

// A test writes down what it needs of these:
//   !kernel = !{!0, !1, !2, !3}                   the kernel, then its arguments in their order
//   !0 = !{!"symbol", !"name"}                    in the module, and as the host sees it
//   !1 = !{!"buffer", i32 0, i32 1}               its index and address space
//   !2 = !{!"threadgroup", i32 0, i32 3}
//   !3 = !{!"thread_position_in_grid", i32 3, i32 4, i32 12}
//                                                 attribute: components, bytes of one, of all
//   !constants = !{!4, !5}                        function constants
//   !4 = !{!"name", i32 0, !"int", i64 7}         name, index, type, and the value if one is given,
//                                                 or the numbers of a vector
//   !row_multiple = !{!6}                         see Variant
//   !6 = !{i32 8}
//   !rows = !{!8}                                 of the threadgroup: their length and number, if
//   !8 = !{i32 64, i32 4}                         code is made for one size, see BodyForm
//   !joined = !{!9}                               threadgroups that run as one, their dimension and
//   !9 = !{i32 2, i32 0, i32 8}                   the threads of each along it, see JoinedGroups
//   !checks = !{!7}                               see metal/checks.h
//   !7 = !{!"bounds,races"}
struct Description {
  metal::compiler::KernelDeclaration declaration;
  metal::FunctionInfo function;
  metal::ConstantValues constants;
  uint32_t row_multiple = 1;
  uint32_t row = 0;
  uint32_t rows = 0;
  metal::cpu::JoinedGroups joined;
  metal::Checks checks = metal::kNoChecks;
};

Description describe(const llvm::Module& module);
