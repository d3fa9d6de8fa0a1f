// Matrices between memory, rows and lanes.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// Lowers loads, stores and changes of the layout; products are gone by now. False if there are
// none.
bool lower_matrix_transfers(llvm::Function& wide);

}  // namespace metal::cpu
