// Lowers loads and stores of matrices and conversions between rows and lanes' elements.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// Must run after products are lowered. False if there is nothing to lower.
bool lower_matrix_transfers(llvm::Function& wide);

}  // namespace metal::cpu
