// Entry points around vector code.
#pragma once

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/control/jam_gangs.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// The shapes of a body's arguments in the gangs of a variant.
BodyShapes shapes_of(const Variant& variant);

// The functions that run a gang. All but `wide` may be null.
struct GangCode {
  llvm::Function* wide = nullptr;         // called through GeneralCode if there is speculative code
  llvm::Function* speculative = nullptr;  // runs first; may bail out
  llvm::Function* several_gangs = nullptr;   // runs before that, for several gangs; may bail out
  llvm::Function* prefetch_slice = nullptr;  // for the gangs that one call runs
  JammedGangs jammed = {};                   // runs first, for several gangs beside each other
  // Runs so many gangs, which are neighbours along the dimension; may bail out. The threadgroup's
  // size there is a multiple of their number.
  llvm::Function* columns = nullptr;
  uint32_t column = 1;
  unsigned column_dimension = 1;
  // See InterchangedLoop. It runs a gang's iteration.
  llvm::Function* iteration = nullptr;
  llvm::Function* iteration_count = nullptr;
  // Run one after the other for all gangs of a row, in place of the other functions: see
  // distribute_stores.h.
  std::vector<llvm::Function*> pieces = {};
};

// Makes an entry point that runs the rows of a threadgroup: gangs of `width` threads, and the rest
// of each row by `body`.
llvm::Function* make_rows_entry(const GangCode& code, llvm::Function& body, uint32_t width);
// Makes an entry point that runs all gangs of a threadgroup, one after the other.
llvm::Function* make_all_gangs_entry(const GangCode& code, const Variant& variant);
// Makes an entry point that calls code of a whole threadgroup, of whose arguments only the
// threadgroup is used.
llvm::Function* make_one_call_entry(llvm::Function& threadgroup);
// The number of gangs of a threadgroup, or of sets of gangs that one call runs.
llvm::Value* gang_count(llvm::IRBuilder<>& builder, llvm::Value* group, const Variant& variant);
// The arguments of vector code for one gang, or one set.
llvm::SmallVector<llvm::Value*> gang_arguments(llvm::IRBuilder<>& builder, llvm::Value* group,
                                               llvm::Value* gang, const Variant& variant);

}  // namespace metal::cpu
