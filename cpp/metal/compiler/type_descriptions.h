// Types of variables, as a debugger needs to know them.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class DIType;
}

namespace metal::compiler {

// A table of types, which name each other by their numbers. Each has "kind", "name" and "bytes":
// "base" (also "encoding": float, signed, unsigned or bool), "pointer" ("to"), "struct" ("members":
// [[name, type, offset], ...]), "array" ("of", "count"), "enum" ("of", "values": {number: name}).
class TypeDescriptions {
 public:
  size_t add(const llvm::DIType* type);  // its number
  llvm::json::Array take() { return std::move(types_); }

 private:
  llvm::json::Object describe(const llvm::DIType& type, const std::string& name);

  llvm::json::Array types_;
  llvm::DenseMap<const llvm::DIType*, size_t> numbers_;
};

}  // namespace metal::compiler
