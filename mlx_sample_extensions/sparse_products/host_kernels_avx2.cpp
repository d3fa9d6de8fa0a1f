// Loops for x86-64 processors with AVX2.
#define HOST_KERNELS avx2
#define VECTOR_FLOATS 8
#include "sparse_products/host_loops.h"
