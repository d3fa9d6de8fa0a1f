// compile: chooses the recorded graph for a call.
#include "mlx/compile.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "mlx/bounded_cache.h"
#include "mlx/compile/fuse.h"
#include "mlx/compile/simplify.h"
#include "mlx/compile/trace.h"
#include "mlx/stream.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

std::atomic<CompileMode>& compile_mode() {
  static std::atomic<CompileMode> mode{std::getenv("MLX_DISABLE_COMPILE") ? CompileMode::disabled
                                                                          : CompileMode::enabled};
  return mode;
}

void optimize(Trace& trace) {
  const CompileMode mode = compile_mode();
  if (mode != CompileMode::no_simplify) simplify(trace);
  if (mode != CompileMode::no_fuse) fuse(trace);
}

// A function that is called with ever new constants keeps only the last graphs.
constexpr size_t kMaxGraphs = 256;

}  // namespace

struct detail::RecordedGraph {
  Trace trace;
  std::shared_ptr<void> note;
};

struct detail::CompileCache::Entries {
  std::mutex mutex;
  BoundedCache<std::string, GraphPtr> by_key{kMaxGraphs};
};

namespace detail {

// A graph for all shapes records the operations of compiled functions, not their own recordings.
bool compile_is_disabled() {
  return compile_mode() == CompileMode::disabled || InTracing::in_dynamic_tracing();
}

const std::shared_ptr<void>& note_of(const RecordedGraph& graph) { return graph.note; }

std::vector<array> replay(const RecordedGraph& graph, const std::vector<array>& inputs) {
  return mlx::core::replay(graph.trace, inputs);
}

CompileCache::CompileCache(bool shapeless)
    : entries_(std::make_unique<Entries>()), shapeless_(shapeless) {}
CompileCache::~CompileCache() = default;
CompileCache::CompileCache(CompileCache&&) noexcept = default;

std::string CompileCache::key_of(const std::vector<array>& inputs, const std::string& rest) const {
  std::string key;
  auto add = [&](int64_t number) { key.append(std::to_string(number)).push_back(','); };
  for (const auto& in : inputs) {
    add(static_cast<int64_t>(in.dtype().val()));
    add(static_cast<int64_t>(in.ndim()));
    if (shapeless_) continue;
    for (int length : in.shape()) add(length);
  }
  add(static_cast<int64_t>(default_device().type));
  add(default_stream(default_device()).index);
  add(static_cast<int64_t>(compile_mode().load()));
  return key + rest;
}

CompileCache::GraphPtr CompileCache::find(const std::string& key) {
  std::lock_guard lock(entries_->mutex);
  GraphPtr* found = entries_->by_key.find(key);
  return found ? *found : nullptr;
}

// Does not hold the lock: the function may call itself, or wait for another thread that calls it.
CompileCache::GraphPtr CompileCache::record(
    const std::string& key, const Function& fun, const std::vector<array>& inputs,
    const std::function<std::shared_ptr<void>()>& make_note) {
  auto made = std::make_shared<RecordedGraph>();
  made->trace = trace(fun, inputs, shapeless_);
  optimize(made->trace);
  if (make_note) made->note = make_note();
  std::lock_guard lock(entries_->mutex);
  return entries_->by_key.get(key, [&] { return made; });
}

}  // namespace detail

std::function<std::vector<array>(const std::vector<array>&)> compile(
    std::function<std::vector<array>(const std::vector<array>&)> fun, bool shapeless) {
  auto cache = std::make_shared<detail::CompileCache>(shapeless);
  return [fun = std::move(fun), cache](const std::vector<array>& inputs) {
    if (detail::compile_is_disabled()) return fun(inputs);
    const std::string key = cache->key_of(inputs);
    auto graph = cache->find(key);
    if (!graph) graph = cache->record(key, fun, inputs);
    return detail::replay(*graph, inputs);
  };
}

void set_compile_mode(CompileMode mode) { compile_mode() = mode; }
void disable_compile() { set_compile_mode(CompileMode::disabled); }
void enable_compile() { set_compile_mode(CompileMode::enabled); }

}  // namespace mlx::core
