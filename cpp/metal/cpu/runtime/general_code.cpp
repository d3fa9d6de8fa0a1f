#include "metal/cpu/runtime/general_code.h"

#include <exception>

#include "metal/cpu/runtime/outside_kernel.h"
#include "metal/cpu/runtime/worker.h"

namespace metal::cpu {

void* GeneralCode::get(const Group* group) {
  if (!code_.load(std::memory_order_acquire)) [[unlikely]]
    load(group);
  return code_.load(std::memory_order_relaxed);
}

void GeneralCode::load(const Group* group) {
  const OutsideKernel outside(group);
  const std::lock_guard lock(mutex_);
  if (code_.load(std::memory_order_relaxed)) return;
  try {
    code_.store(load_(), std::memory_order_release);
  } catch (const std::exception& error) {
    outside.worker().stop(error.what());
  }
}

}  // namespace metal::cpu

void* metal_cpu_general_code(const metal::cpu::Group* group, metal::cpu::GeneralCode* code) {
  return code->get(group);
}
