// Prefetches for kernels that go through memory once, from its start to its end.
#pragma once

namespace llvm {
class Function;
class IntrinsicInst;
}  // namespace llvm

namespace metal::cpu {

// Beside non-temporal stores, what each thread reads once is prefetched a page ahead. Processors
// follow such a stream by themselves, but find out anew on every page. Where threadgroups do not
// run in their natural order, the prefetch is for the threadgroup that runs next.
void prefetch_streams(llvm::Function& body);
bool is_of_stream(const llvm::IntrinsicInst& prefetch);

}  // namespace metal::cpu
