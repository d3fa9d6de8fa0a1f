// The state of each thread's transformations.
#include <atomic>

#include "mlx/transforms_impl.h"

namespace mlx::core::detail {

namespace {

struct Depth {
  int tracing = 0;
  int dynamic = 0;
  int grad = 0;
  int retain = 0;
};

Depth& depth() {
  static thread_local Depth instance;
  return instance;
}

// Nested transformations count several times.
std::atomic<int> tracing_threads{0};
std::atomic<int> retaining_threads{0};

}  // namespace

InTracing::InTracing(bool dynamic, bool grad) : dynamic_(dynamic), grad_(grad) {
  depth().tracing += 1;
  tracing_threads += 1;
  depth().dynamic += dynamic;
  depth().grad += grad;
}

InTracing::~InTracing() {
  depth().tracing -= 1;
  tracing_threads -= 1;
  depth().dynamic -= dynamic_;
  depth().grad -= grad_;
}

bool InTracing::in_tracing() { return depth().tracing > 0; }
bool InTracing::in_dynamic_tracing() { return depth().dynamic > 0; }
bool InTracing::in_grad_tracing() { return depth().grad > 0; }

RetainGraph::RetainGraph() {
  depth().retain += 1;
  retaining_threads += 1;
}

RetainGraph::~RetainGraph() {
  depth().retain -= 1;
  retaining_threads -= 1;
}

bool in_tracing() { return InTracing::in_tracing(); }
bool retain_graph() { return retained_anywhere() && depth().retain > 0; }
bool tracing_anywhere() { return tracing_threads.load() > 0; }
bool retained_anywhere() { return retaining_threads.load() > 0; }

}  // namespace mlx::core::detail
