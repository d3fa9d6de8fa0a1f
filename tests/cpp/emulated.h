// Tests of what an emulator of another processor does not do.
#pragma once

#include <gtest/gtest.h>

#ifdef METAL_EMULATED
#define SKIP_IF_EMULATED(reason) GTEST_SKIP() << "in an emulator: " << (reason)
#else
#define SKIP_IF_EMULATED(reason) static_assert(true)
#endif
