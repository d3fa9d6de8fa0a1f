#include "metal/cpu/runtime/stamp_tables.h"

#include <sys/mman.h>

#include <new>

namespace metal::cpu {

StampTables::StampTables(const FunctionInfo& kernel, uint64_t threadgroup_bytes,
                         std::vector<CheckedMemory>& memory) {
  auto add = [this](CheckedMemory& object, uint64_t bytes) {
    object.written = map(bytes);
    object.read = map(bytes);
  };
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (argument.kind == ArgumentKind::Buffer && argument.writable)
      add(memory[argument.index], memory[argument.index].bytes);
  }
  add(memory[kCheckedThreadgroup], threadgroup_bytes);
}

StampTables::~StampTables() {
  for (const Mapping& mapping : mappings_) munmap(mapping.memory, mapping.bytes);
}

uint64_t* StampTables::map(uint64_t stamps) {
  if (!stamps) return nullptr;
  const uint64_t bytes = stamps * sizeof(uint64_t);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);
  mappings_.push_back({memory, bytes});
  return static_cast<uint64_t*>(memory);
}

}  // namespace metal::cpu
