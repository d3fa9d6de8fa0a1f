// Facts about this machine, from /proc and sysconf.
#include "metal/cpu/runtime/system.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace metal::cpu {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return architecture();
}

std::string architecture() {
  utsname name;
  return uname(&name) == 0 ? name.machine : "unknown";
}

uint64_t physical_memory() {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
  // The memory limit of a container, if there is one. "max" does not parse.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit;
    if (std::ifstream(path) >> limit) bytes = std::min(bytes, limit);
  }
  return bytes;
}

namespace {

// The largest cache up to this level, in bytes; 0 if it is not known.
uint64_t largest_cache(int most_level) {
  uint64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    uint64_t kibibytes = 0;  // "32768K"
    int level = 0;
    if (std::ifstream(folder + "/size") >> kibibytes && std::ifstream(folder + "/level") >> level &&
        level <= most_level)
      largest = std::max(largest, kibibytes << 10);
  }
  return largest;
}

}  // namespace

uint64_t second_level_cache() {
  static const uint64_t found = largest_cache(2), size = found ? found : uint64_t{512} << 10;
  return size;
}

uint64_t last_level_cache() {
  static const uint64_t found = largest_cache(8), size = found ? found : uint64_t{32} << 20;
  return size;
}

uint64_t page_size() {
  static const uint64_t size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace metal::cpu
