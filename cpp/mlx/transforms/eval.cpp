// eval: schedules the nodes of a graph on their streams, inputs first.
#include "mlx/backend/metal/eval.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "mlx/errors.h"
#include "mlx/interrupt.h"
#include "mlx/memory.h"
#include "mlx/primitives/primitive.h"
#include "mlx/scheduler.h"
#include "mlx/transforms.h"
#include "mlx/transforms/graph_walk.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

// With more command buffers in flight, the host waits instead of allocating more.
constexpr int kMaxTasksInFlight = 16;

// After so many operations that ran in the calling thread, this looks for Ctrl-C.
constexpr size_t kOperationsPerPoll = 1024;

// Event values: intermediate signals count up; the final one is larger than all of them.
constexpr uint64_t kFinalValue = uint64_t{1} << 62;

class Evaluation {
 public:
  // With `caller_waits`, the caller waits for the outputs next. Returns the stream whose last work
  // it then has to run: that stream's own thread is not woken for it.
  std::optional<Stream> run(const std::vector<array>& outputs, bool caller_waits) {
    auto order = collect(outputs);
    try {
      for (auto& node : order) {
        // The node is moved, so that arrays that nothing else needs may be overwritten.
        schedule(std::move(node));
        poll_sometimes();
      }
    } catch (...) {
      finish(outputs, false);
      throw;
    }
    const bool alone = caller_waits && events_.size() == 1;
    finish(outputs, alone);
    return alone ? std::optional(events_.begin()->second.event.stream()) : std::nullopt;
  }

 private:
  struct StreamEvent {
    Event event;
    uint64_t signaled = 0;
  };

  // The types are those that MLX raises.
  [[noreturn]] static void throw_without_value() {
    if (detail::in_tracing()) {
      throw std::invalid_argument(
          "[eval] Attempting to eval an array during function transformations, such as compile "
          "and vmap, is not allowed.");
    }
    throw std::runtime_error(
        "[eval] Attempting to eval an array that was kept from a function transformation, such as "
        "compile or vmap: it has no value outside of it. A compiled function must return what it "
        "computes, or name it in outputs.");
  }

  std::vector<array> collect(const std::vector<array>& outputs) {
    auto pending = [](const array& a) {
      if (a.status() != array::Status::unscheduled) {
        return false;
      }
      if (!a.has_primitive()) throw_without_value();
      return true;
    };
    // Most often, one operation follows what has been evaluated.
    if (outputs.size() == 1 && outputs[0].num_siblings() == 0 && pending(outputs[0]) &&
        std::ranges::none_of(outputs[0].inputs(), pending)) {
      return outputs;
    }
    auto order = topological_order(outputs, pending, false);
    bool has_siblings = false;
    for (const auto& node : order) {
      has_siblings |= node.num_siblings() > 0;
      for (const auto& in : node.inputs()) {
        if (in.status() == array::Status::unscheduled &&
            in.primitive().stream() != node.primitive().stream()) {
          needed_elsewhere_.insert(in.node_id());
        }
      }
    }
    if (has_siblings) {
      for (const auto& out : outputs) used_.insert(out.id());
      for (const auto& node : order) {
        for (const auto& in : node.inputs()) used_.insert(in.id());
      }
    }
    return order;
  }

  StreamEvent& event_of(const Stream& stream) {
    auto it = events_.find(stream.index);
    if (it == events_.end()) {
      it = events_.emplace(stream.index, StreamEvent{Event(stream)}).first;
    }
    return it->second;
  }

  void schedule(array node) {
    Stream stream = node.primitive().stream();
    const bool inputs_available = require_inputs(node, stream);
    auto siblings = node.num_siblings() > 0 ? node.siblings() : std::vector<array>{};
    bool signal_now = needed_elsewhere_.count(node.node_id()) > 0;

    // Small operations have run when this returns: then nobody has to wait for the results.
    if (metal::eval(node) && inputs_available) {
      node.set_status(array::Status::available);
      for (const auto& sibling : siblings) {
        sibling.set_status(array::Status::available);
      }
    } else {
      announce(node, siblings, signal_now);
    }
    if (!node.keeps_graph()) {
      node.detach();
    }
    limit_work_in_flight();
    limit_memory_in_flight(stream);
  }

  // Lets the stream wait for inputs that other streams compute. Returns whether all inputs have
  // their values.
  bool require_inputs(const array& node, const Stream& stream) {
    bool all_available = true;
    for (const auto& in : node.inputs()) {
      if (in.is_available()) continue;
      all_available = false;
      if (in.event().stream() != stream) {
        in.event().wait(stream);
      }
      event_of(stream).event.require(in.event());
    }
    return all_available;
  }

  void announce(const array& node, const std::vector<array>& siblings, bool signal_now) {
    auto& progress = event_of(node.primitive().stream());
    Event done = progress.event;
    done.set_value(signal_now ? ++progress.signaled : kFinalValue);
    auto attach = [&](const array& a) {
      a.attach_event(done);
      a.set_status(array::Status::evaluated);
    };
    attach(node);
    std::for_each(siblings.begin(), siblings.end(), attach);
    // Nobody may hold an output that no operation here uses. Its memory must not go to another
    // stream before it is written.
    const auto keep_unused = [&](const array& a) {
      if (!used_.contains(a.id()) && a.data_shared_ptr()) done.keep(a.data_shared_ptr());
    };
    if (!siblings.empty()) {
      keep_unused(node);
      std::for_each(siblings.begin(), siblings.end(), keep_unused);
    }
    if (signal_now) {
      done.signal(done.stream());
    }
  }

  void poll_sometimes() {
    if (++operations_ % kOperationsPerPoll == 0) {
      if (auto& poll = WaitPoll::current()) poll();
    }
  }

  static void limit_work_in_flight() {
    if (scheduler::n_active_tasks() > kMaxTasksInFlight) {
      metal::complete_soon();
      scheduler::wait_for_at_most(kMaxTasksInFlight / 2);
    }
    if (const size_t most = metal::max_bytes_in_flight(); scheduler::n_active_bytes() > most) {
      metal::complete_soon();
      scheduler::wait_for_at_most_bytes(most / 2);
    }
  }

  // Work that has run releases the memory that it held.
  static void limit_memory_in_flight(const Stream& stream) {
    if (!over_memory_limit()) {
      return;
    }
    metal::finalize(stream);
    metal::complete_soon();
    for (int tasks = scheduler::n_active_tasks(); tasks > 0 && over_memory_limit(); --tasks) {
      scheduler::wait_for_at_most(tasks - 1);
    }
  }

  void finish(const std::vector<array>& outputs, bool caller_waits) {
    for (auto& [index, progress] : events_) {
      progress.event.set_value(kFinalValue);
    }
    // The outputs' memory must stay until it is written, even if nobody waits for them.
    for (const auto& out : outputs) {
      auto it = out.event().valid() ? events_.find(out.event().stream().index) : events_.end();
      if (it != events_.end() && out.data_shared_ptr()) {
        it->second.event.keep(out.data_shared_ptr());
      }
    }
    for (auto& [index, progress] : events_) {
      const Stream& stream = progress.event.stream();
      progress.event.signal(stream, caller_waits);
      metal::finalize(stream);
    }
  }

  size_t operations_ = 0;
  std::unordered_map<int, StreamEvent> events_;
  // If nodes have siblings: the arrays that are inputs of nodes, or what the caller wants.
  std::unordered_set<std::uintptr_t> used_;
  // Nodes that another stream waits for.
  std::unordered_set<std::uintptr_t> needed_elsewhere_;
};

std::optional<Stream> schedule(const std::vector<array>& outputs, bool caller_waits) {
  bool all_scheduled = std::all_of(outputs.begin(), outputs.end(), [](const array& a) {
    return a.status() != array::Status::unscheduled;
  });
  std::optional<Stream> left;
  if (!all_scheduled) {
    const auto run = [&] {
      std::lock_guard lock(scheduler::mutex());
      left = Evaluation().run(outputs, caller_waits);
    };
    wait_unlocked(std::ref(run));
  }
  return left;
}

// Wakes the stream's thread if the wait ended early, as it does with an error.
class StartWhatIsLeft {
 public:
  explicit StartWhatIsLeft(std::optional<Stream> stream) : stream_(stream) {}
  ~StartWhatIsLeft() {
    if (stream_) metal::help(*stream_, [] { return true; });
  }
  StartWhatIsLeft(const StartWhatIsLeft&) = delete;
  StartWhatIsLeft& operator=(const StartWhatIsLeft&) = delete;

 private:
  std::optional<Stream> stream_;
};

}  // namespace

void async_eval(std::vector<array> outputs) {
  if (detail::in_tracing()) {
    invalid_argument("async_eval", "Not allowed inside a function that is being transformed.");
  }
  schedule(outputs, false);
}

void eval(std::vector<array> outputs) {
  const StartWhatIsLeft start(schedule(outputs, true));
  for (auto& out : outputs) {
    out.wait();
  }
}

}  // namespace mlx::core
