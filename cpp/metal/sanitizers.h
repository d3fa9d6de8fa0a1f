// Says which sanitizer this build has, and has the hooks of AddressSanitizer and ThreadSanitizer
// for fibres.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define METAL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define METAL_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define METAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define METAL_TSAN 1
#endif
#endif

#ifdef METAL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace metal {

// Frames that were abandoned have poisoned the memory around their variables.
inline void unpoison_stack([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#ifdef METAL_ASAN
  // LLVM's headers define a macro of this name that does nothing; the parentheses prevent its
  // expansion.
  (__asan_unpoison_memory_region)(memory, size);
#endif
}

}  // namespace metal

#ifdef METAL_TSAN
#include <sanitizer/tsan_interface.h>
#define METAL_HAPPENS_BEFORE(address) __tsan_release(address)
#define METAL_HAPPENS_AFTER(address) __tsan_acquire(address)
#else
#define METAL_HAPPENS_BEFORE(address)
#define METAL_HAPPENS_AFTER(address)
#endif
