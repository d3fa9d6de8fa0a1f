// Reads the kernels, their arguments and the function constants from Clang's AST.
#pragma once

namespace clang {
class CodeGenerator;
class CompilerInstance;
}  // namespace clang

namespace metal::compiler {

struct TranslationUnit;

// Reports errors (an argument without an attribute, a wrong type) through the instance's
// diagnostics.
void reflect(clang::CompilerInstance& instance, clang::CodeGenerator& generator,
             TranslationUnit& unit);

}  // namespace metal::compiler
