#include "metal/constant_copies.h"

#include <utility>

namespace metal {
namespace {

constexpr size_t kPlaceAlignment = 64;  // as the heap's blocks

}  // namespace

std::optional<ConstantCopies::Place> ConstantCopies::place_of(std::string_view bytes) {
  if (bytes.size() > kMaxBytes) return {};
  const auto found = offsets_.find(bytes);
  if (found != offsets_.end()) return Place{found->second, false};
  const size_t size = (bytes.size() + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
  if (kBlockBytes - end_ < size) {
    full_ = true;
    return {};
  }
  offsets_.emplace(bytes, end_);
  return Place{std::exchange(end_, end_ + size), true};
}

void ConstantCopies::end_launch() {
  if (!full_) return;
  offsets_.clear();
  end_ = 0;
  full_ = false;
}

}  // namespace metal
