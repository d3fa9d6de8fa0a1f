// METAL_API marks the functions outside of the namespaces MTL and NS that the array library, metalc
// and the compiler's library may use.
#pragma once

#define METAL_API __attribute__((visibility("default")))
