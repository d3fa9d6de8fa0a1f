// Warnings about messages of kernels (os_log) whose format does not fit their values.
#pragma once

#include <string>

namespace clang {
class CallExpr;
}

namespace metal::compiler {

// What is wrong with a call, or nothing. Other calls than those that log are never wrong.
std::string find_message_mistake(const clang::CallExpr& call);

}  // namespace metal::compiler
