// Calls for a debugger: where a thread is, and where its variables are.
#pragma once

namespace llvm {
class Module;
}

namespace metal::compiler {

// They are made before code is inlined and simplified, of the marks of lines (mark_lines.h) and of
// the debug information, which is reduced to lines. As the calls get the addresses of variables,
// these stay in memory, and have their values at each call.
//
//   void __metal_debug_enter(ptr description)       a function of the user's begins
//   void __metal_debug_variable(i32 number, i64 address)
//   void __metal_debug_line(i32 number)             the thread is about to run a line
//   void __metal_debug_leave()                      the function returns
//
// The description is JSON: {"name", "sites": [{"file", "line", "variables": [number, ...]}, ...],
// "variables": [{"name", "type", "line", "indirect"}, ...], "types": [...]}.
inline constexpr const char* kDebugEnter = "__metal_debug_enter";
inline constexpr const char* kDebugVariable = "__metal_debug_variable";
inline constexpr const char* kDebugLine = "__metal_debug_line";
inline constexpr const char* kDebugLeave = "__metal_debug_leave";

void mark_stops(llvm::Module& module);

}  // namespace metal::compiler
