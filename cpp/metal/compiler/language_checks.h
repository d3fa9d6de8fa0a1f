// Reports what C++ allows and Metal does not.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
class DiagnosticsEngine;
}  // namespace clang

namespace metal::compiler {

// Reports errors where braces hold more values than a vector has components, and where variables
// that live as long as the program can be written.
std::unique_ptr<clang::ASTConsumer> check_language(clang::DiagnosticsEngine& diagnostics);

}  // namespace metal::compiler
