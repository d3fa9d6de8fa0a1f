// xxHash, compiled into the sources that use it: no library is linked.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>
