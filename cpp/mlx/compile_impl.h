// The parts of compile that language bindings call: their functions have numbers, and return more
// than arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mlx/array.h"
#include "mlx/compile.h"

namespace mlx::core::detail {

using ArraysAndExtra = std::pair<std::vector<array>, std::shared_ptr<void>>;
using ArrayFnWithExtra = std::function<ArraysAndExtra(const std::vector<array>&)>;

// Functions with the same number are taken for one: they share the recorded graphs, until these are
// erased. There is a graph for each list of constants.
std::function<std::vector<array>(const std::vector<array>&)> compile(
    std::function<std::vector<array>(const std::vector<array>&)> fun, std::uintptr_t fun_id,
    bool shapeless = false, std::vector<uint64_t> constants = {});
// What the function returns besides arrays is kept from the call that records the graph.
ArrayFnWithExtra compile(ArrayFnWithExtra fun, std::uintptr_t fun_id, bool shapeless,
                         std::vector<uint64_t> constants);

// The recorded graphs of all numbers. The process has one.
class CompileCaches;
using CompileCacheWeakPtr = std::weak_ptr<CompileCaches>;
CompileCacheWeakPtr compile_cache();
void compile_erase(const CompileCacheWeakPtr& cache, std::uintptr_t fun_id);
void compile_clear_cache(const CompileCacheWeakPtr& cache);

}  // namespace mlx::core::detail
