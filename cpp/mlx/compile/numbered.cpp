// compile for functions that language bindings know by numbers.
#include <map>
#include <mutex>
#include <string>

#include "mlx/compile_impl.h"

namespace mlx::core::detail {

class CompileCaches {
 public:
  std::shared_ptr<CompileCache> of(std::uintptr_t fun_id, bool shapeless) {
    std::lock_guard lock(mutex_);
    auto& cache = by_number_[{fun_id, shapeless}];
    if (!cache) cache = std::make_shared<CompileCache>(shapeless);
    return cache;
  }

  void erase(std::uintptr_t fun_id) {
    std::lock_guard lock(mutex_);
    for (bool shapeless : {false, true}) by_number_.erase({fun_id, shapeless});
  }

  void clear() {
    std::lock_guard lock(mutex_);
    by_number_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uintptr_t, bool>, std::shared_ptr<CompileCache>> by_number_;
};

namespace {

// Never destroyed: functions may still be called while the process ends.
const std::shared_ptr<CompileCaches>& numbered_caches() {
  static const auto* caches = new std::shared_ptr(std::make_shared<CompileCaches>());
  return *caches;
}

}  // namespace

ArrayFnWithExtra compile(ArrayFnWithExtra fun, std::uintptr_t fun_id, bool shapeless,
                         std::vector<uint64_t> constants) {
  std::string rest;
  for (uint64_t constant : constants) rest += std::to_string(constant) + ",";
  return [fun = std::move(fun), fun_id, shapeless,
          rest = std::move(rest)](const std::vector<array>& inputs) -> ArraysAndExtra {
    if (compile_is_disabled()) return fun(inputs);
    const auto cache = numbered_caches()->of(fun_id, shapeless);
    const std::string key = cache->key_of(inputs, rest);
    auto graph = cache->find(key);
    if (!graph) {
      std::shared_ptr<void> extra;
      const auto arrays_of = [&](const std::vector<array>& tracers) {
        ArraysAndExtra all = fun(tracers);
        extra = std::move(all.second);
        return std::move(all.first);
      };
      graph = cache->record(key, arrays_of, inputs, [&] { return extra; });
    }
    return {replay(*graph, inputs), note_of(*graph)};
  };
}

std::function<std::vector<array>(const std::vector<array>&)> compile(
    std::function<std::vector<array>(const std::vector<array>&)> fun, std::uintptr_t fun_id,
    bool shapeless, std::vector<uint64_t> constants) {
  ArrayFnWithExtra with_extra = [fun = std::move(fun)](const std::vector<array>& inputs) {
    return ArraysAndExtra{fun(inputs), nullptr};
  };
  auto compiled = compile(std::move(with_extra), fun_id, shapeless, std::move(constants));
  return [compiled = std::move(compiled)](const std::vector<array>& inputs) {
    return compiled(inputs).first;
  };
}

CompileCacheWeakPtr compile_cache() { return numbered_caches(); }

void compile_erase(const CompileCacheWeakPtr& cache, std::uintptr_t fun_id) {
  if (const auto caches = cache.lock()) caches->erase(fun_id);
}

void compile_clear_cache(const CompileCacheWeakPtr& cache) {
  if (const auto caches = cache.lock()) caches->clear();
}

}  // namespace mlx::core::detail
