// Reports errors for code that C++ allows and Metal does not.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
class DiagnosticsEngine;
}  // namespace clang

namespace metal::compiler {

// Reports braces with more values than a vector has components, and variables of static storage
// duration that can be written.
std::unique_ptr<clang::ASTConsumer> check_language(clang::DiagnosticsEngine& diagnostics);

}  // namespace metal::compiler
