// Vectors and matrices of the host under the names of Apple's simd library, for structures that
// kernels and host share. They have the sizes and layouts of Metal's.
#pragma once

#include "simd/matrix.h"
#include "simd/vector.h"
