// Code that goes from lane to lane, where no instruction serves them all.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Addresses that are computed from a root and an index in memory when it is a lane's turn.
struct LaneAddresses {
  llvm::Value* root;
  llvm::Value* indices;    // their memory
  llvm::Type* index_type;  // i32 or i64
  bool is_signed;          // how an i32 becomes 64 bits wide
  uint64_t scale;          // bytes

  llvm::Value* at(llvm::IRBuilder<>& b, llvm::Value* lane) const;
};

// Writes the indices down.
LaneAddresses lane_addresses(Widener& w, const IndexedAddress& address);

// One element of `type` a lane; undefined in lanes that do not run the block.
llvm::Value* load_lanes(Widener& w, const IndexedAddress& address, llvm::Type* type);
void store_lanes(Widener& w, const IndexedAddress& address, llvm::Value* values);

}  // namespace metal::cpu
