// Traversals of the graph of arrays.
#include "mlx/transforms/graph_walk.h"

#include <array>
#include <bit>
#include <span>

#include "mlx/primitives/graph.h"

namespace mlx::core {

namespace {

// A set of nodes' ids, which are addresses. It needs no memory of its own as long as it is small.
class Ids {
 public:
  // Returns whether the id is new.
  bool insert(std::uintptr_t id) {
    auto& slot = slot_of(id);
    if (slot == id) {
      return false;
    }
    slot = id;
    if (++count_ * 2 > slots_.size()) {
      grow();
    }
    return true;
  }

 private:
  // The id's slot, or the free one where it belongs.
  std::uintptr_t& slot_of(std::uintptr_t id) {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    size_t i = (id * kGoldenRatio) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[i] != 0 && slots_[i] != id) {
      i = (i + 1) % slots_.size();
    }
    return slots_[i];
  }

  void grow() {
    const std::span<std::uintptr_t> before = slots_;
    std::vector<std::uintptr_t> larger(before.size() * 4);
    slots_ = larger;
    for (const std::uintptr_t id : before) {
      if (id != 0) {
        slot_of(id) = id;
      }
    }
    memory_ = std::move(larger);
  }

  std::array<std::uintptr_t, 32> first_{};
  std::vector<std::uintptr_t> memory_;
  std::span<std::uintptr_t> slots_{first_};  // as many as a power of two, at least half of them 0
  size_t count_ = 0;
};

}  // namespace

size_t num_followed_inputs(const array& a) {
  size_t count = a.inputs().size();
  if (auto* custom = dynamic_cast<const CustomTransforms*>(&a.primitive())) {
    count -= custom->num_outputs();
  }
  return count;
}

std::vector<array> topological_order(const std::vector<array>& outputs,
                                     const std::function<bool(const array&)>& enter,
                                     bool only_followed_inputs) {
  struct Frame {
    array a;
    size_t next;
    size_t count;
  };
  std::vector<array> order;
  order.reserve(outputs.size());
  std::vector<Frame> stack;
  Ids seen;
  auto visit = [&](const array& a) {
    if (enter(a) && seen.insert(a.node_id())) {
      stack.push_back({a, 0, only_followed_inputs ? num_followed_inputs(a) : a.inputs().size()});
    }
  };
  for (const auto& out : outputs) {
    visit(out);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.count) {
        visit(top.a.inputs()[top.next++]);
      } else {
        order.push_back(std::move(top.a));
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace mlx::core
