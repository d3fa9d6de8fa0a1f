// Contracts products and sums of vectors, as Clang does it for scalars.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
}

namespace metal::compiler {

// Where contraction is on, Clang makes one llvm.fmuladd of `a * b + c` if the product stands in the
// expression of the sum. A product that goes through a variable, or that something else uses too,
// stays a product. Metal's vectors are classes here, whose operators Clang calls, so it cannot see
// that. This consumer runs before Clang emits IR and exchanges what such expressions call: the
// product becomes metal::__multiply(a, b), which keeps the factors, and the sum metal::__add of
// that and c (stdlib/metal_products), which is an expression on registers that Clang contracts.
std::unique_ptr<clang::ASTConsumer> contract_vectors();

}  // namespace metal::compiler
