// Chooses the operations that are fused into one kernel.
#include "mlx/compile/fuse.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "mlx/primitives/compiled.h"
#include "mlx/primitives/elementwise.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/reduce.h"
#include "mlx/primitives/shape.h"

namespace mlx::core {

namespace {

constexpr size_t kMaxNodes = 96;   // in a kernel; the time to compile it grows with them
constexpr size_t kMaxArrays = 24;  // inputs and outputs: Metal has 31 places for buffers
constexpr int kNoGroup = -1;

// The nodes of a trace and their users. A group counts as one node: the graph of groups never has a
// cycle, so that each group can run as a whole.
class Grouping {
 public:
  explicit Grouping(const Trace& trace);
  void find_groups();
  std::vector<TraceNode> fused_nodes() const;

 private:
  struct Group {
    std::set<int> members;
    Shape shape;
  };

  bool is_fusable(const TraceNode& node) const;
  bool is_scalar(const array& value) const;
  bool fits(const TraceNode& node, const Group& group) const;
  bool can_join(int node, const Group& group, int number) const;
  bool leads_back(int node, int number) const;
  void grow_from(int root);
  void absorb(int reduction);
  size_t count_arrays(const Group& group, int candidate) const;
  bool is_needed_outside(const array& value, const std::set<int>& members) const;
  TraceNode make_compiled(const Group& group) const;
  int producer(const array& value) const;
  const std::vector<int>& users(int node) const { return users_[node]; }
  // Returns the number of the node's group, or a number of its own if it is in none.
  int unit_of(int node) const {
    return group_of_[node] == kNoGroup ? node : static_cast<int>(nodes_.size()) + group_of_[node];
  }

  const Trace& trace_;
  const std::vector<TraceNode>& nodes_;
  std::unordered_map<std::uintptr_t, int> producers_;
  std::set<std::uintptr_t> outputs_;
  std::vector<std::vector<int>> users_;
  std::vector<int> group_of_;
  std::vector<Group> groups_;
};

Grouping::Grouping(const Trace& trace)
    : trace_(trace),
      nodes_(trace.nodes),
      users_(nodes_.size()),
      group_of_(nodes_.size(), kNoGroup) {
  for (const auto& out : trace.outputs) outputs_.insert(out.id());
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    for (const auto& out : nodes_[i].outputs) producers_.emplace(out.id(), i);
    for (const auto& in : nodes_[i].inputs) {
      if (int from = producer(in); from >= 0) users_[from].push_back(i);
    }
  }
}

int Grouping::producer(const array& value) const {
  auto found = producers_.find(value.id());
  return found == producers_.end() ? -1 : found->second;
}

// Whether the value is a scalar, also with the shapes that it may have later.
bool Grouping::is_scalar(const array& value) const {
  return trace_.shapeless ? value.ndim() == 0 : value.size() == 1;
}

bool Grouping::is_fusable(const TraceNode& node) const {
  const Primitive* primitive = node.primitive.get();
  const bool repeats_scalar = dynamic_cast<const Broadcast*>(primitive) &&
                              node.inputs.size() == 1 && is_scalar(node.inputs[0]);
  if (!dynamic_cast<const Elementwise*>(primitive) &&
      !dynamic_cast<const StopGradient*>(primitive) && !repeats_scalar) {
    return false;
  }
  auto has_kernel_type = [](const array& a) { return a.dtype() != float64; };
  return node.outputs.size() == 1 && has_kernel_type(node.outputs[0]) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), has_kernel_type);
}

bool Grouping::fits(const TraceNode& node, const Group& group) const {
  const array& value = node.outputs[0];
  return value.shape() == group.shape || is_scalar(value);
}

bool Grouping::is_needed_outside(const array& value, const std::set<int>& members) const {
  if (outputs_.count(value.id())) return true;
  const auto& all = users(producer(value));
  return std::any_of(all.begin(), all.end(), [&](int user) { return !members.count(user); });
}

size_t Grouping::count_arrays(const Group& group, int candidate) const {
  std::set<int> members = group.members;
  members.insert(candidate);
  std::set<std::uintptr_t> arrays;
  for (int member : members) {
    for (const auto& in : nodes_[member].inputs) {
      if (!is_scalar_constant(in) && !members.count(producer(in))) arrays.insert(in.id());
    }
    const array& out = nodes_[member].outputs[0];
    if (is_needed_outside(out, members)) arrays.insert(out.id());
  }
  return arrays.size();
}

// Whether a user of the node outside the group has users inside it: then that user can run neither
// before nor after the group.
bool Grouping::leads_back(int node, int number) const {
  std::vector<int> stack;
  std::set<int> seen;
  auto go_to_users = [&](int from) {
    for (int user : users(from)) {
      if (seen.insert(unit_of(user)).second) stack.push_back(user);
    }
  };
  for (int user : users(node)) {
    if (group_of_[user] != number && seen.insert(unit_of(user)).second) stack.push_back(user);
  }
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    if (group_of_[at] == number) return true;
    if (group_of_[at] == kNoGroup) {
      go_to_users(at);
    } else {
      for (int member : groups_[group_of_[at]].members) go_to_users(member);
    }
  }
  return false;
}

bool Grouping::can_join(int node, const Group& group, int number) const {
  const TraceNode& candidate = nodes_[node];
  if (group_of_[node] != kNoGroup || !is_fusable(candidate) || !fits(candidate, group) ||
      group.members.size() >= kMaxNodes || count_arrays(group, node) > kMaxArrays) {
    return false;
  }
  if (candidate.primitive->stream() != nodes_[*group.members.begin()].primitive->stream()) {
    return false;
  }
  if (!is_needed_outside(candidate.outputs[0], group.members)) return true;
  // The value becomes another output, so it needs the shape of the group.
  return candidate.outputs[0].shape() == group.shape && !leads_back(node, number);
}

void Grouping::grow_from(int root) {
  const int number = static_cast<int>(groups_.size());
  groups_.push_back({{root}, nodes_[root].outputs[0].shape()});
  group_of_[root] = number;
  std::set<int> candidates;  // the largest is taken first: all its users have been decided on
  auto add_inputs = [&](int node) {
    for (const auto& in : nodes_[node].inputs) {
      if (int from = producer(in); from >= 0) candidates.insert(from);
    }
  };
  add_inputs(root);
  while (!candidates.empty()) {
    const int node = *candidates.rbegin();
    candidates.erase(node);
    if (!can_join(node, groups_[number], number)) continue;
    groups_[number].members.insert(node);
    group_of_[node] = number;
    add_inputs(node);
  }
  if (groups_[number].members.size() == 1) {
    group_of_[root] = kNoGroup;
    groups_.pop_back();
  }
}

// Adds a reduction to the group that computes its input, if nobody needs what the group computes
// but the reduction. Then the group's inputs cannot depend on the reduction.
void Grouping::absorb(int reduction) {
  const TraceNode& node = nodes_[reduction];
  const int last = producer(node.inputs[0]);
  if (last < 0 || !is_fusable(nodes_[last]) || is_scalar(node.inputs[0]) ||
      node.primitive->stream() != nodes_[last].primitive->stream()) {
    return;
  }
  const bool is_alone = group_of_[last] == kNoGroup;
  std::set<int> members = is_alone ? std::set<int>{last} : groups_[group_of_[last]].members;
  members.insert(reduction);
  for (int member : members) {
    if (member != reduction && is_needed_outside(nodes_[member].outputs[0], members)) return;
  }
  if (is_alone) {
    group_of_[last] = static_cast<int>(groups_.size());
    groups_.push_back({{}, node.inputs[0].shape()});
  }
  group_of_[reduction] = group_of_[last];
  groups_[group_of_[last]].members = std::move(members);
}

void Grouping::find_groups() {
  const int count = static_cast<int>(nodes_.size());
  for (int i = count - 1; i >= 0; --i) {
    if (group_of_[i] == kNoGroup && is_fusable(nodes_[i])) grow_from(i);
  }
  for (int i = 0; i < count; ++i) {
    if (dynamic_cast<const Reduce*>(nodes_[i].primitive.get())) absorb(i);
  }
}

TraceNode Grouping::make_compiled(const Group& group) const {
  Trace body;
  body.shapeless = trace_.shapeless;
  std::set<std::uintptr_t> seen;
  for (int member : group.members) {
    const TraceNode& node = nodes_[member];
    body.nodes.push_back(node);
    for (const auto& in : node.inputs) {
      const bool is_outside = !is_scalar_constant(in) && !group.members.count(producer(in));
      if (is_outside && seen.insert(in.id()).second) body.inputs.push_back(in);
    }
    if (is_needed_outside(node.outputs[0], group.members)) body.outputs.push_back(node.outputs[0]);
  }
  Stream stream = body.nodes[0].primitive->stream();
  auto inputs = body.inputs;
  auto outputs = body.outputs;
  const bool reduces = dynamic_cast<const Reduce*>(body.nodes.back().primitive.get());
  std::shared_ptr<Primitive> fused;
  if (reduces) {
    fused = std::make_shared<CompiledReduce>(stream, std::move(body));
  } else {
    fused = std::make_shared<Compiled>(stream, std::move(body));
  }
  return {std::move(fused), std::move(inputs), std::move(outputs)};
}

// Returns groups and single nodes, each behind its inputs.
std::vector<TraceNode> Grouping::fused_nodes() const {
  std::vector<TraceNode> units;
  std::unordered_map<int, int> places;  // of nodes' units
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (!places.try_emplace(unit_of(i), static_cast<int>(units.size())).second) continue;
    units.push_back(group_of_[i] == kNoGroup ? nodes_[i] : make_compiled(groups_[group_of_[i]]));
  }
  std::vector<std::set<int>> users_of_unit(units.size());
  std::vector<int> missing(units.size(), 0);
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    const int from = places.at(unit_of(i));
    for (int user : users(i)) {
      const int to = places.at(unit_of(user));
      if (to != from && users_of_unit[from].insert(to).second) missing[to] += 1;
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < static_cast<int>(units.size()); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<TraceNode> ordered;
  while (!ready.empty()) {
    const int unit = ready.top();
    ready.pop();
    ordered.push_back(std::move(units[unit]));
    for (int user : users_of_unit[unit]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  return ordered;
}

}  // namespace

void fuse(Trace& trace) {
  Grouping grouping(trace);
  grouping.find_groups();
  trace.nodes = grouping.fused_nodes();
}

}  // namespace mlx::core
