// Writes the error message for a kernel that was aborted.
#include "metal/cpu/runtime/fault_message.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace metal::cpu {
namespace {

// A fault further from any buffer is not about that buffer.
constexpr uint64_t kNearBuffer = uint64_t{1} << 30;
constexpr uint64_t kNearOwnMemory = uint64_t{16} << 20;

// A piece of memory that the kernel may have meant to access.
struct Region {
  enum Kind { Buffer, ThreadgroupMemory, Variables };
  Kind kind;
  std::string name;
  uintptr_t begin;
  uint64_t bytes;

  bool contains(uintptr_t address) const { return address - begin < bytes; }
  // The distance from the start to the address; behind the end, from the end.
  uint64_t distance(uintptr_t address) const {
    if (contains(address)) return 0;
    return address < begin ? begin - address : address - begin - bytes;
  }
  bool is_near(uintptr_t address) const {
    return distance(address) <= (kind == Buffer ? kNearBuffer : kNearOwnMemory);
  }
};

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

std::string hexadecimal(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string position(const uint32_t (&value)[3]) {
  return "(" + std::to_string(value[0]) + ", " + std::to_string(value[1]) + ", " +
         std::to_string(value[2]) + ")";
}

std::string bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

// All memory of the kernel. Read-only memory counts only if the fault was a read.
std::vector<Region> regions(const Fault& fault, const FaultScene& scene) {
  std::vector<Region> found;
  for (const ArgumentInfo& argument : scene.function.arguments) {
    if (argument.kind != ArgumentKind::Buffer) continue;
    if (fault.access == Fault::Write && !argument.writable) continue;
    const void* start = scene.parameters.buffers[argument.index];
    if (!start) continue;
    const std::string name = argument.name.empty() ? "buffer " + std::to_string(argument.index)
                                                   : "\"" + argument.name + "\"";
    found.push_back(
        {Region::Buffer, name, number(start), scene.parameters.buffer_bytes[argument.index]});
  }
  if (scene.threadgroup_memory) {
    found.push_back({Region::ThreadgroupMemory, "its threadgroup memory",
                     number(scene.group.memory), scene.threadgroup_memory});
  }
  found.push_back({Region::Variables, "", number(fault.stack), fault.stack_size});
  return found;
}

std::string place_in(const Region& region, uintptr_t address, Fault::Access access) {
  if (region.kind == Region::Variables) return "near the variables of its threads";
  std::string size = " (" + bytes(region.bytes);
  if (region.contains(address)) {
    const char* refused = access == Fault::Write  ? "written"
                          : access == Fault::Read ? "read"
                                                  : "accessed";
    return "at byte " + std::to_string(address - region.begin) + " of " + region.name + size +
           "), whose memory cannot be " + refused;
  }
  if (region.kind == Region::Buffer)
    size += access == Fault::Write ? ", its nearest writable buffer" : ", its nearest buffer";
  const char* side = address < region.begin ? " before the start of " : " behind the end of ";
  return bytes(region.distance(address)) + side + region.name + size + ")";
}

std::string describe_nearest(const Fault& fault, const FaultScene& scene) {
  const uintptr_t address = number(fault.address);
  auto candidates = regions(fault, scene);
  std::erase_if(candidates, [&](const Region& region) { return !region.is_near(address); });
  const auto nearest = std::ranges::min_element(
      candidates, {}, [&](const Region& region) { return region.distance(address); });
  if (nearest == candidates.end()) return "near no buffer of the kernel";
  return place_in(*nearest, address, fault.access);
}

std::string access(const Fault& fault, const FaultScene& scene) {
  std::string text = "invalid memory access";
  if (fault.access == Fault::Read) text += " (read)";
  if (fault.access == Fault::Write) text += " (write)";
  // The system does not report addresses that the processor cannot form.
  if (fault.code == SI_KERNEL) return text + " at an impossible address";
  return text + " at address " + hexadecimal(number(fault.address)) + ", " +
         describe_nearest(fault, scene);
}

std::string what_happened(const Fault& fault, const FaultScene& scene) {
  if (fault.kind == Fault::StackOverflow)
    return "stack overflow (the variables of its threads need too much memory)";
  switch (fault.signal) {
    case SIGSEGV:
    case SIGBUS:
      return access(fault, scene);
    case SIGFPE:
      return "arithmetic trap (division by zero or overflow)";
    case SIGILL:
      return "illegal instruction or trap";
    default:
      return "trap";
  }
}

// "3", or "3 to 5".
std::string numbers(uint32_t first, uint32_t last) {
  return std::to_string(first) + (first == last ? "" : " to " + std::to_string(last));
}

// Names the threadgroup as the kernel's author numbers it. The launch may run several as one.
std::string where(const FaultScene& scene) {
  const Group& group = scene.group;
  const uint32_t* size = scene.parameters.threads_per_threadgroup;
  uint32_t first[3], last[3];
  for (int i = 0; i < 3; ++i) {
    first[i] = group.position[i] * (group.launch->threads_per_threadgroup[i] / size[i]);
    last[i] = first[i] + (group.size[i] - 1) / size[i];
  }
  if (group.thread == kUnknownThread) {
    const std::string hint = "; MLX_CPU_REFERENCE=1 finds the thread";
    if (std::ranges::equal(first, last)) return "in threadgroup " + position(first) + hint;
    return "in one of the threadgroups (" + numbers(first[0], last[0]) + ", " +
           numbers(first[1], last[1]) + ", " + numbers(first[2], last[2]) + ")" + hint;
  }
  uint32_t thread[3] = {group.thread % group.size[0], group.thread / group.size[0] % group.size[1],
                        group.thread / group.size[0] / group.size[1]};
  uint32_t in_grid[3];
  for (int i = 0; i < 3; ++i) {
    in_grid[i] = group.position[i] * group.launch->threads_per_threadgroup[i] + thread[i];
    first[i] += thread[i] / size[i];
    thread[i] %= size[i];
  }
  return "in threadgroup " + position(first) + ", thread " + position(thread) +
         ", which is thread " + position(in_grid) + " of the grid";
}

}  // namespace

LaunchFault launch_fault(const Fault& fault) {
  if (fault.kind == Fault::StackOverflow) return LaunchFault::StackOverflow;
  bool access = fault.signal == SIGSEGV || fault.signal == SIGBUS;
  return access ? LaunchFault::BadAccess : LaunchFault::Trap;
}

std::string describe(const Fault& fault, const FaultScene& scene) {
  return what_happened(fault, scene) + ", " + where(scene);
}

}  // namespace metal::cpu
