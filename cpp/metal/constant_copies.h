// Where a device keeps copies of small constants: bytes of the host that kernels only read.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "metal/driver.h"

namespace metal {

// Places in a block of the device's memory, found by what they hold: scalars and shapes, which
// programs pass again and again, are copied once. For one stream, whose copies and launches run in
// order: after a launch, new copies may take the places that it reads.
class ConstantCopies {
 public:
  static constexpr size_t kBlockBytes = 32768;
  static constexpr size_t kMaxBytes = 1024;  // of one copy

  struct Place {
    size_t offset;  // in the block
    bool is_new;    // the caller has to copy the bytes there
  };
  // The place of a constant of the next launch; none if there are too many bytes, or no room.
  std::optional<Place> place_of(std::string_view bytes);
  // The address of a constant in the block at this address of the device. `copy` puts the bytes
  // where they are not yet: it gets the address.
  template <typename Copy>
  ConstantCopy find(void* block, std::string_view bytes, Copy copy) {
    const auto place = place_of(bytes);
    if (!place) return {};
    char* address = static_cast<char*>(block) + place->offset;
    if (place->is_new) copy(address);
    return {address, place->is_new};
  }
  // After each launch. If there was no room, all places are free again.
  void end_launch();

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> offsets_;
  size_t end_ = 0;  // of the places that are taken
  bool full_ = false;
};

}  // namespace metal
