// Removes selects of linear code whose result one operand already is.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace metal::cpu {

// Where branches are nested, linearize.h selects a variable once for each of them: between its new
// and old values under the mask of the inner branch, then between that and the old value under the
// mask of the outer one. The inner mask has no lane that the outer one does not have, so the second
// select changes nothing.
void remove_redundant_selects(llvm::Function& body);

}  // namespace metal::cpu
