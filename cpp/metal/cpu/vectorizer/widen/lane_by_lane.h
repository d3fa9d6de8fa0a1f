// Loads and stores in a loop over the lanes, for processors without gathers and scatters.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Computes a lane's address from a root and an index in memory.
struct LaneAddresses {
  llvm::Value* root;
  llvm::Value* indices;    // a pointer to the lanes' indices
  llvm::Type* index_type;  // i32 or i64
  bool is_signed;          // whether an i32 index is sign-extended
  uint64_t scale;          // bytes

  llvm::Value* at(llvm::IRBuilder<>& b, llvm::Value* lane) const;
};

// Loads an element of a vector that is in memory, for code unrolled over the lanes. LLVM has to
// keep the load: it would take the element from the vector's register instead, and such moves to
// integer registers are slow (the additions of a histogram run 8 times as fast with loads on AMD's
// Zen 4).
llvm::Value* load_element(llvm::IRBuilder<>& b, llvm::AllocaInst* vector, unsigned lane);

// Stores the indices to memory.
LaneAddresses lane_addresses(Widener& w, const IndexedAddress& address);

// Loads an element of `type` for each lane; the result is undefined in inactive lanes.
llvm::Value* load_lanes(Widener& w, const IndexedAddress& address, llvm::Type* type);
void store_lanes(Widener& w, const IndexedAddress& address, llvm::Value* values);

}  // namespace metal::cpu
