// What checks know of floats in memory, by their addresses.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace metal::cpu {

template <typename T>
using PlaceMap = std::unordered_map<uint64_t, T>;

// Bytes of memory are copied, and what is known of them.
template <typename T>
void copy_places(PlaceMap<T>& places, uint64_t address, uint64_t from, uint64_t bytes) {
  if (places.empty()) return;
  for (uint64_t offset = 0; offset < bytes; ++offset) {
    const auto found = places.find(from + offset);
    if (found == places.end()) {
      places.erase(address + offset);
    } else {
      const T known = found->second;  // the next line may move the entry
      places[address + offset] = known;
    }
  }
}

}  // namespace metal::cpu
