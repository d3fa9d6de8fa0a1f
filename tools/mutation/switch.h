// Included in the sources that tools/mutate.py changes: `mutated(n) ? after : before`.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace mutation {

constexpr int kMost = 4096;

struct Switches {
  int on = -1;
  volatile unsigned char* reached;

  // MUTATION is the number of the active mutation. MUTATIONS_REACHED is a file with a byte for
  // each, which the processes of a test share.
  Switches() {
    static unsigned char nowhere[kMost];
    reached = nowhere;
    if (const char* number = std::getenv("MUTATION")) {
      on = std::atoi(number);
    }
    const char* path = std::getenv("MUTATIONS_REACHED");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
      void* bytes = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (bytes != MAP_FAILED) {
        reached = static_cast<unsigned char*>(bytes);
      }
      close(file);
    }
  }
};

}  // namespace mutation

inline bool mutated(int number) {
  static const mutation::Switches switches;
  if (!switches.reached[number]) {
    switches.reached[number] = 1;
  }
  return switches.on == number;
}

#pragma GCC diagnostic ignored "-Wsign-compare"

// Tests reach it only where the results differ.
template <class Left, class Right, class Before, class After>
auto mutated_comparison(int number, const Left& left, const Right& right, Before before,
                        After after) {
  auto result = before(left, right);
  if constexpr (std::is_same_v<decltype(result), bool>) {
    const bool other = after(left, right);
    return other != result && mutated(number) ? other : result;
  } else {
    return mutated(number) ? after(left, right) : result;
  }
}
