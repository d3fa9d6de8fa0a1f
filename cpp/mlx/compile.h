// compile: functions whose graph is recorded once, simplified, and built again at every call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

enum class CompileMode { disabled, no_simplify, no_fuse, enabled };

// The function is called once for each list of shapes and types of its inputs, or, if `shapeless`,
// for each list of ranks and types. It must not evaluate its arrays. Its results must depend on
// nothing but the inputs: arrays that it captures are constants.
std::function<std::vector<array>(const std::vector<array>&)> compile(
    std::function<std::vector<array>(const std::vector<array>&)> fun, bool shapeless = false);
// Sets how compiled functions are called from now on. The environment variable MLX_DISABLE_COMPILE
// disables compilation from the start.
void set_compile_mode(CompileMode mode);
void disable_compile();
void enable_compile();

namespace detail {

bool compile_is_disabled();

// A recorded graph, with a note of the caller that recorded it.
struct RecordedGraph;
const std::shared_ptr<void>& note_of(const RecordedGraph& graph);
std::vector<array> replay(const RecordedGraph& graph, const std::vector<array>& inputs);

// The graphs of one function. Thread-safe.
class CompileCache {
 public:
  using Function = std::function<std::vector<array>(const std::vector<array>&)>;
  using GraphPtr = std::shared_ptr<const RecordedGraph>;

  explicit CompileCache(bool shapeless);
  ~CompileCache();
  CompileCache(CompileCache&&) noexcept;

  // The key of the graph for these inputs. `rest` stands for everything else that the graph depends
  // on.
  std::string key_of(const std::vector<array>& inputs, const std::string& rest = {}) const;
  // Returns null if there is none yet.
  GraphPtr find(const std::string& key);
  // Calls the function, then `make_note` unless it is empty.
  GraphPtr record(const std::string& key, const Function& fun, const std::vector<array>& inputs,
                  const std::function<std::shared_ptr<void>()>& make_note = {});

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
  bool shapeless_;
};

}  // namespace detail

}  // namespace mlx::core
