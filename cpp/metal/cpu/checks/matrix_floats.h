// The elements of matrices as floats.
#pragma once

#include <vector>

#include "metal/compiler/matrix_accesses.h"

namespace metal::cpu {

// Lanes load and store the elements of matrices as bits, whose type is that of the floats that they
// come from or become. Makes these accesses of floats, which checks of numbers look at.
void type_matrix_elements(std::vector<compiler::MatrixAccess>& matrices);

}  // namespace metal::cpu
