// Reads the kernels, their arguments and the function constants out of Clang's AST.
#pragma once

namespace clang {
class CodeGenerator;
class CompilerInstance;
}  // namespace clang

namespace metal::compiler {

struct TranslationUnit;

// Errors (an argument without an attribute, a wrong type) are reported through the instance's
// diagnostics.
void reflect(clang::CompilerInstance& instance, clang::CodeGenerator& generator,
             TranslationUnit& unit);

}  // namespace metal::compiler
