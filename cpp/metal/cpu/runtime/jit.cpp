#include "metal/cpu/runtime/jit.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "metal/compiler_library.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/runtime/linker.h"
#include "metal/cpu/runtime/target_key.h"
#include "metal/process_end.h"
#include "metal/programs/disk_cache.h"

namespace metal::cpu {
namespace {

std::string constants_text(const ConstantValues& constants) {
  std::string text;
  for (const auto& [index, value] : constants) {
    text += std::to_string(index) + ":" + std::to_string(static_cast<uint32_t>(value.type));
    for (uint32_t i = 0; i < value.components; ++i) text += ":" + std::to_string(value.bits[i]);
    text += ";";
  }
  return text;
}

std::atomic<uint64_t> fallbacks{0};

// A cache entry of code has some numbers, the reason why there is no vector code, the general code
// and the object file; one of traits has some numbers, and four more for each access of an element.
constexpr size_t kCodeNumbers = 7;
constexpr size_t kTraitNumbers = 12;
constexpr size_t kAccessNumbers = 4;

template <size_t N>
std::string to_text(const uint32_t (&numbers)[N]) {
  return std::string(reinterpret_cast<const char*>(numbers), sizeof(numbers));
}

std::string to_entry(const ObjectCode& code) {
  return to_text<kCodeNumbers>({static_cast<uint32_t>(code.granularity), code.has_barriers,
                                code.prefetches, code.interchanges, code.records_thread,
                                static_cast<uint32_t>(code.why_scalar.size()),
                                static_cast<uint32_t>(code.general.size())}) +
         code.why_scalar + code.general + code.bytes;
}

ObjectCode from_entry(const std::string& entry) {
  uint32_t numbers[kCodeNumbers];
  std::memcpy(numbers, entry.data(), sizeof(numbers));
  size_t place = sizeof(numbers);
  auto take = [&](size_t size) {
    std::string part = entry.substr(place, size);
    place += part.size();
    return part;
  };
  ObjectCode code;
  code.granularity = static_cast<Granularity>(numbers[0]);
  code.has_barriers = numbers[1] != 0;
  code.prefetches = numbers[2] != 0;
  code.interchanges = numbers[3] != 0;
  code.records_thread = numbers[4] != 0;
  code.why_scalar = take(numbers[5]);
  code.general = take(numbers[6]);
  code.bytes = take(std::string::npos);
  return code;
}

KernelTraits traits_from_entry(const std::string& entry) {
  uint32_t numbers[kTraitNumbers];
  std::memcpy(numbers, entry.data(), sizeof(numbers));
  KernelTraits traits{.gangs = {.cooperation = static_cast<Cooperation>(numbers[0]),
                                .natural_width = numbers[2],
                                .widest_waiting = numbers[10],
                                .group_dimension = numbers[11]},
                      .static_threadgroup_memory = numbers[1],
                      .repeats = numbers[3] != 0,
                      .jumps_along_rows = numbers[4] != 0,
                      .depends_on_overlap = numbers[5] != 0,
                      .may_jam = numbers[6] != 0,
                      .may_jam_beside = numbers[7] != 0,
                      .column_dimension = numbers[8],
                      .depends_on_threadgroup = numbers[9] != 0,
                      .element_accesses = {}};
  for (size_t place = sizeof(numbers); place < entry.size(); place += kAccessNumbers * 4) {
    uint32_t access[kAccessNumbers];
    std::memcpy(access, entry.data() + place, sizeof(access));
    traits.element_accesses.push_back({access[0], access[1], access[2], access[3] != 0});
  }
  return traits;
}

std::string to_entry(const KernelTraits& traits) {
  std::string entry = to_text<kTraitNumbers>(
      {static_cast<uint32_t>(traits.gangs.cooperation), traits.static_threadgroup_memory,
       traits.gangs.natural_width, traits.repeats, traits.jumps_along_rows,
       traits.depends_on_overlap, traits.may_jam, traits.may_jam_beside, traits.column_dimension,
       traits.depends_on_threadgroup, traits.gangs.widest_waiting, traits.gangs.group_dimension});
  for (const ElementAccess& access : traits.element_accesses) {
    entry += to_text<kAccessNumbers>({access.buffer, access.bytes, access.shared, access.written});
  }
  return entry;
}

bool is_entry_of_traits(const std::string& entry) {
  constexpr size_t kNumbers = kTraitNumbers * 4;
  return entry.size() >= kNumbers && (entry.size() - kNumbers) % (kAccessNumbers * 4) == 0;
}

KernelTraits load_traits(const std::string& key, const FunctionInfo& function,
                         const ConstantValues& constants) {
  if (auto entry = compiler::cache_load(key); entry && is_entry_of_traits(*entry))
    return traits_from_entry(*entry);
  const KernelTraits traits = compiler_library().find_traits(function, constants);
  compiler::cache_store(key, to_entry(traits));
  return traits;
}

ObjectCode find_or_generate(const std::string& key, const FunctionInfo& function,
                            const ConstantValues& constants, const Variant& variant) {
  if (auto entry = compiler::cache_load(key); entry && entry->size() >= kCodeNumbers * 4)
    return from_entry(*entry);
  ObjectCode code = compiler_library().generate_code(function, constants, variant);
  compiler::cache_store(key, to_entry(code));
  return code;
}

std::string find_or_generate_general(const std::string& key, std::string_view general) {
  if (auto entry = compiler::cache_load(key)) return *entry;
  std::string object = compiler_library().generate_general_code(general);
  compiler::cache_store(key, object);
  return object;
}

class JitKernel : public CpuKernel {
 public:
  JitKernel(const FunctionInfo& function, const ConstantValues& constants, std::string key,
            CodeMode mode, Checks checks)
      : function_(function),
        constants_(constants),
        key_(std::move(key)),
        mode_(mode),
        checks_(checks & ~kProfile),
        profiled_(checks & kProfile),
        traits_(load_traits(key_ + "-traits", function_, constants_)) {
    static_threadgroup_memory = traits_.static_threadgroup_memory;
    if (function.max_total_threads) max_total_threads = std::min(function.max_total_threads, 1024u);
    threads_are_independent = !checks_ && traits_.gangs.cooperation == Cooperation::None &&
                              static_threadgroup_memory == 0 && !traits_.depends_on_threadgroup;
    repeats = traits_.repeats;
    jumps_along_rows = traits_.jumps_along_rows;
    groups_write_columns = traits_.gangs.group_dimension == 1;
    column_dimension = traits_.column_dimension;
    if (threads_are_independent) element_accesses = traits_.element_accesses;
  }

  const CpuCode& code_for(const uint32_t (&size)[3], uint32_t row,
                          const LaunchFacts& facts) const override {
    Variant variant;
    const JoinedGroups& joined = facts.joined;
    if (mode_ != CodeMode::Reference) {
      const uint32_t own_row = joined.along(0) ? joined.size : size[0];
      variant = choose_variant(traits_.gangs, {own_row, size[1], size[2]}, row);
    }
    if (mode_ == CodeMode::Vector) {
      variant.separate_buffers = facts.separate_buffers && traits_.depends_on_overlap;
      variant.few_threads = facts.few_threads;
      variant.joined = joined;
      if (traits_.may_jam) allow_jam(variant, size);
      if (traits_.may_jam_beside) allow_gangs_at_once(variant, size);
      if (traits_.column_dimension) allow_columns(variant, size);
    }
    variant.checks = checks_;
    variant.screened = mode_ == CodeMode::Screen;
    const std::lock_guard lock(mutex_);
    for (const Loaded& loaded : loaded_) {
      if (loaded.variant == variant) return loaded.code;
    }
    return load(variant);
  }

  JoinedGroups groups_to_join(const uint32_t (&size)[3]) const override {
    if (mode_ != CodeMode::Vector || checks_ || !traits_.may_jam) return {};
    return cpu::groups_to_join(traits_.gangs, size, static_threadgroup_memory);
  }

 private:
  struct Loaded {
    Variant variant;
    CpuCode code;
    std::unique_ptr<LoadedCode> memory;
  };

  const CpuCode& load(const Variant& variant) const {
    const InUse in_use;
    InUse::check();
    const std::string key =
        key_ + "-" + std::to_string(static_cast<uint32_t>(variant.layout)) + "-" +
        std::to_string(variant.width) + "-" + std::to_string(variant.row_multiple) + "-" +
        std::to_string(variant.gangs_in_row) + "x" + std::to_string(variant.rows) + "-" +
        std::to_string(variant.rows_at_once) + "x" + std::to_string(variant.layers_at_once) + "-" +
        std::to_string(variant.gangs_at_once) + "-" + std::to_string(variant.joined.count) + "x" +
        std::to_string(variant.joined.dimension) + "x" + std::to_string(variant.joined.size) +
        (variant.separate_buffers ? "-separate" : "") + (variant.few_threads ? "-few" : "");
    ObjectCode object = find_or_generate(key, function_, constants_, variant);
    if (object.bytes.empty()) {  // not for joined threadgroups
      loaded_.push_back({variant, {}, nullptr});
      return loaded_.back().code;
    }
    if (!object.why_scalar.empty() && !checks_) ++fallbacks;
    auto memory = load_object(
        object.bytes,
        [key, general = std::move(object.general)] {
          return find_or_generate_general(key + "-general", general);
        },
        profiled_);
    const CpuCode code{memory->entry,     object.granularity,  object.has_barriers,
                       object.prefetches, object.interchanges, object.records_thread,
                       object.why_scalar};
    loaded_.push_back({variant, code, std::move(memory)});
    return loaded_.back().code;
  }

  FunctionInfo function_;
  ConstantValues constants_;
  std::string key_;
  CodeMode mode_;
  Checks checks_;
  bool profiled_;
  KernelTraits traits_;
  mutable std::mutex mutex_;
  mutable std::deque<Loaded> loaded_;  // a deque, as callers keep the addresses of its elements
};

// The kernels that are in use, by the key of what they were made from. Loading one again returns
// it.
class LoadedKernels {
 public:
  std::shared_ptr<CpuKernel> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    auto found = kernels_.find(key);
    return found == kernels_.end() ? nullptr : found->second.lock();
  }

  void add(const std::string& key, const std::shared_ptr<CpuKernel>& kernel) {
    const std::lock_guard lock(mutex_);
    kernels_[key] = kernel;
    if (kernels_.size() < forget_at_) return;
    std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
    forget_at_ = 2 * kernels_.size() + kFew;
  }

 private:
  static constexpr size_t kFew = 64;

  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<CpuKernel>> kernels_;
  size_t forget_at_ = kFew;  // entries; then those of destroyed kernels go
};

}  // namespace

std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, std::string_view name,
                                           const ConstantValues& constants, CodeMode mode,
                                           Checks checks) {
  const FunctionInfo& function = program.get(name);
  require_runnable_target();
  // Never destroyed: threads may use it while the process ends.
  static LoadedKernels& loaded = *new LoadedKernels;
  static const std::string& target = *new std::string(target_key());
  const std::string made =
      std::to_string(static_cast<uint32_t>(mode)) + " checks " + std::to_string(checks);
  const std::string key = compiler::cache_key(
      {"cpu", target, function.name, function.bitcode, constants_text(constants), made});
  if (auto kernel = loaded.find(key)) return kernel;
  const InUse in_use;
  InUse::check();
  auto kernel = std::make_shared<JitKernel>(function, constants, key, mode, checks);
  loaded.add(key, kernel);
  return kernel;
}

uint64_t scalar_fallbacks() { return fallbacks.load(); }

}  // namespace metal::cpu
