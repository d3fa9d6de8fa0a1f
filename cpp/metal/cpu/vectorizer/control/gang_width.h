// Chooses between gangs of independent threads that are as wide as two registers, and as one.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;

// Whether a thread keeps so many vectors outside loops, such as the columns of a matrix, that a
// gang of this width would need more registers for them than there are.
bool exceeds_registers(llvm::Function& body, const BodyShapes& shapes,
                       const llvm::TargetTransformInfo& costs);

// Whether the code of such a gang, which takes several registers for a vector, would take long to
// compile. Long code has enough to do while it waits for results, with narrower gangs, too.
bool is_long(const llvm::Function& body, uint32_t width, const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
