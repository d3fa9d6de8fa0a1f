// METAL_API marks what the runtime offers outside of its namespaces MTL and NS: to the array
// library, and to metalc.
#pragma once

#define METAL_API __attribute__((visibility("default")))
