// Which sanitizer this build has, and the fibre hooks of the two that follow stacks.
#pragma once

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

#ifdef METAL_TSAN
#include <sanitizer/tsan_interface.h>
#define METAL_HAPPENS_BEFORE(address) __tsan_release(address)
#define METAL_HAPPENS_AFTER(address) __tsan_acquire(address)
#else
#define METAL_HAPPENS_BEFORE(address)
#define METAL_HAPPENS_AFTER(address)
#endif
