// Separates the iterations of a loop in which lanes leave it from those before.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

struct BodyShapes;

// The threads of a row often share it: for (i = lane; i < n; i += 32). If n is only known at run
// time, lanes may leave the loop in different iterations, so that all of it would run under masks.
// But an index that grows from lane to lane stays below the bound in all lanes until the last
// iterations. The loop gets a copy in front of it, which lanes leave together: as soon as one of
// them would leave. The others then go on in the loop itself.
void separate_loop_tails(llvm::Function& body, const BodyShapes& shapes);

}  // namespace metal::cpu
