#include "metal/cpu/jit.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "metal/compiler/disk_cache.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/cpu/code_generator.h"
#include "metal/cpu/linker.h"

namespace metal::cpu {
namespace {

struct LoadedKernel : CpuKernel {
  std::unique_ptr<LoadedCode> code;
};

std::string constants_text(const ConstantValues& constants) {
  std::string text;
  for (const auto& [index, value] : constants) {
    text += std::to_string(index) + ":" + std::to_string(static_cast<uint32_t>(value.type)) + ":" +
            std::to_string(value.bits) + ";";
  }
  return text;
}

// A cache entry is three numbers and the object file.
constexpr size_t kHeaderSize = 3 * sizeof(uint32_t);

std::string to_entry(const ObjectCode& code) {
  const uint32_t header[3] = {static_cast<uint32_t>(code.granularity), code.has_barriers,
                              code.static_threadgroup_memory};
  return std::string(reinterpret_cast<const char*>(header), kHeaderSize) + code.bytes;
}

ObjectCode from_entry(const std::string& entry) {
  uint32_t header[3];
  std::memcpy(header, entry.data(), kHeaderSize);
  return {entry.substr(kHeaderSize), static_cast<Granularity>(header[0]), header[1] != 0,
          header[2]};
}

ObjectCode find_or_generate(const std::string& key, const FunctionInfo& function,
                            const ConstantValues& constants, bool reference) {
  if (auto entry = compiler::cache_load(key); entry && entry->size() > kHeaderSize)
    return from_entry(*entry);
  ObjectCode code;
  compiler::run_guarded([&] { code = generate_code(function, constants, reference); });
  compiler::cache_store(key, to_entry(code));
  return code;
}

std::shared_ptr<CpuKernel> load(const std::string& key, const FunctionInfo& function,
                                const ConstantValues& constants, bool reference) {
  const ObjectCode code = find_or_generate(key, function, constants, reference);
  auto kernel = std::make_shared<LoadedKernel>();
  kernel->code = load_object(code.bytes, kEntrySymbol);
  kernel->entry = kernel->code->entry;
  kernel->name = function.name;
  kernel->granularity = code.granularity;
  kernel->has_barriers = code.has_barriers;
  kernel->static_threadgroup_memory = code.static_threadgroup_memory;
  if (function.max_total_threads)
    kernel->max_total_threads = std::min(function.max_total_threads, 1024u);
  return kernel;
}

}  // namespace

std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, std::string_view name,
                                           const ConstantValues& constants, bool reference) {
  const FunctionInfo* function = program.find(name);
  if (!function)
    throw std::invalid_argument("no function '" + std::string(name) + "' in the library");
  static std::mutex mutex;
  static std::unordered_map<std::string, std::weak_ptr<CpuKernel>> loaded;
  static const std::string target = target_description();
  const std::string key =
      compiler::cache_key({"cpu", target, function->name, function->bitcode,
                           constants_text(constants), reference ? "reference" : "vector"});
  {
    const std::lock_guard lock(mutex);
    if (auto kernel = loaded[key].lock()) return kernel;
  }
  auto kernel = load(key, *function, constants, reference);
  const std::lock_guard lock(mutex);
  loaded[key] = kernel;
  return kernel;
}

}  // namespace metal::cpu
