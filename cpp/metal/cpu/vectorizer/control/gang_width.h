// Chooses between gangs of independent threads that are as wide as two registers, and as one.
#pragma once

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

}  // namespace metal::cpu
