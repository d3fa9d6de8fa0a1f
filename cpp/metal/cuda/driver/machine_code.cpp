#include "metal/cuda/driver/machine_code.h"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "metal/compiler_library.h"
#include "metal/process_end.h"
#include "metal/programs/code_version.h"
#include "metal/programs/disk_cache.h"

namespace metal::cuda {
namespace {

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string to_text(const LaunchForm& form) {
  return std::to_string(form.most_threads) + (form.flat ? " flat" : "") +
         (form.aligned ? " aligned" : "") + (form.in_parts ? " in parts" : "") +
         (form.apart ? " apart" : "") + (form.several ? " several" : "") +
         (form.summed ? " summed" : "") + " " + std::to_string(form.by_value) + " " +
         std::to_string(form.long_values);
}

std::string to_text(const ConstantValues& constants) {
  std::string bytes;
  for (const auto& [index, value] : constants) {
    append(bytes, index);
    append(bytes, value.type);
    append(bytes, value.bits);
    append(bytes, value.components);
  }
  return bytes;
}

// A cache entry has the integers of the interface, its parameters, the kernel's name and the cubin.
struct EntryHead {
  uint32_t parameters, parameter_bytes, static_threadgroup_memory, max_total_threads, at_once,
      summed_size, has_loops, name;
};

std::string to_entry(const MachineCode& code) {
  const KernelInterface& interface = code.interface;
  std::string entry;
  append(entry, EntryHead{static_cast<uint32_t>(interface.parameters.size()),
                          interface.parameter_bytes, interface.static_threadgroup_memory,
                          interface.max_total_threads, interface.at_once, interface.summed_size,
                          interface.has_loops, static_cast<uint32_t>(interface.entry.size())});
  for (const Parameter& parameter : interface.parameters) append(entry, parameter);
  return entry + interface.entry + code.bytes;
}

MachineCode from_entry(const std::string& entry) {
  EntryHead head;
  std::memcpy(&head, entry.data(), sizeof(head));
  MachineCode code;
  KernelInterface& interface = code.interface;
  interface.parameter_bytes = head.parameter_bytes;
  interface.static_threadgroup_memory = head.static_threadgroup_memory;
  interface.max_total_threads = head.max_total_threads;
  interface.at_once = head.at_once;
  interface.summed_size = head.summed_size;
  interface.has_loops = head.has_loops != 0;
  interface.parameters.resize(head.parameters);
  const size_t parameter_bytes = head.parameters * sizeof(Parameter);
  std::memcpy(interface.parameters.data(), entry.data() + sizeof(head), parameter_bytes);
  interface.entry = entry.substr(sizeof(head) + parameter_bytes, head.name);
  code.bytes = entry.substr(sizeof(head) + parameter_bytes + head.name);
  return code;
}

std::string assemble(const Gpu& gpu, const std::string& name, std::string ptx) {
  const Api& api = gpu.api();
  gpu.enter();
  char log[4096] = {};
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log, std::bit_cast<void*>(sizeof(log) - 1)};
  CudaLink link = nullptr;
  gpu.check(api.cuLinkCreate_v2(2, options, values, &link), "make machine code");
  const auto end = [&api](CudaLink made) { api.cuLinkDestroy(made); };
  const std::unique_ptr<CudaLinkObject, decltype(end)> owner(link, end);
  void* cubin = nullptr;
  size_t bytes = 0;
  Result result = api.cuLinkAddData_v2(link, kLinkInputPtx, ptx.data(), ptx.size() + 1,
                                       name.c_str(), 0, nullptr, nullptr);
  if (result == Result::Success) result = api.cuLinkComplete(link, &cubin, &bytes);
  if (result != Result::Success) {
    throw CompileError("[" + name + "] NVIDIA's driver makes no machine code: " +
                       api.describe(result) + "\n" + log);
  }
  return {static_cast<const char*>(cubin), bytes};
}

}  // namespace

MachineCode find_machine_code(const Gpu& gpu, const FunctionInfo& function,
                              const ConstantValues& constants, const LaunchForm& form) {
  const std::string key = compiler::cache_key(
      {"cuda", compiler::code_version(), gpu.code_key(), function.name, function.bitcode,
       to_text(constants), std::to_string(function.max_total_threads), to_text(form)});
  if (auto entry = compiler::cache_load(key)) return from_entry(*entry);
  const InUse in_use;
  InUse::check();
  PtxCode ptx = compiler_library().generate_ptx(function, constants, gpu.architecture(), form);
  MachineCode code;
  code.bytes = assemble(gpu, function.name, std::move(ptx.text));
  code.interface = std::move(ptx.interface);
  compiler::cache_store(key, to_entry(code));
  return code;
}

}  // namespace metal::cuda
