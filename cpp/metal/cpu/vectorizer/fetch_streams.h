// Kernels that go through memory once, from its start to its end.
#pragma once

namespace llvm {
class Function;
class IntrinsicInst;
}  // namespace llvm

namespace metal::cpu {

// Where results stream past the caches, what is read beside them, once a thread, is asked for a
// page ahead: processors follow such a stream by themselves, but find out anew on every page. Where
// threadgroups are not visited one after the other, it is asked for on behalf of the next visit.
void fetch_streams(llvm::Function& body);
bool is_of_stream(const llvm::IntrinsicInst& prefetch);

}  // namespace metal::cpu
