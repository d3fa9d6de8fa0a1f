// Loops for x86-64 processors with AVX-512.
#define HOST_KERNELS avx512
#define VECTOR_FLOATS 16
#include "sparse_products/host_loops.h"
