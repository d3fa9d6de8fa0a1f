// Builds IR that reads the structs of abi.h and records the running thread in them.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/abi.h"

namespace metal::cpu {

// Says of the argument that points to the Group that the Group exists while the function runs.
inline void mark_group(llvm::Argument& group) {
  llvm::AttrBuilder attributes(group.getContext());
  attributes.addDereferenceableAttr(sizeof(Group)).addAlignmentAttr(alignof(Group));
  group.addAttrs(attributes);
}

class GroupAccess {
 public:
  GroupAccess(llvm::IRBuilder<>& builder, llvm::Value* group) : builder_(builder), group_(group) {}

  llvm::Value* launch() {
    return load_object(group_, offsetof(Group, launch), sizeof(Launch), alignof(Launch));
  }
  llvm::Value* memory() { return load_pointer(group_, offsetof(Group, memory)); }
  llvm::Value* next() {
    return load_object(group_, offsetof(Group, next), sizeof(Group), alignof(Group));
  }
  llvm::Value* histories() { return load_pointer(group_, offsetof(Group, histories)); }
  llvm::Value* additions() { return load_pointer(group_, offsetof(Group, additions)); }
  llvm::Value* position(unsigned i) {
    return load_int(group_, offsetof(Group, position) + size_t{4} * i);
  }
  llvm::Value* size(unsigned i) { return load_int(group_, offsetof(Group, size) + size_t{4} * i); }
  llvm::Value* buffer(unsigned i) {
    return load_pointer(launch(), offsetof(Launch, buffers) + size_t{8} * i);
  }
  llvm::Value* threadgroup_offset(unsigned i) {
    return load_int(launch(), offsetof(Launch, threadgroup_offsets) + size_t{4} * i);
  }
  llvm::Value* threads_per_grid(unsigned i) {
    return load_int(launch(), offsetof(Launch, threads_per_grid) + size_t{4} * i);
  }
  llvm::Value* threads_per_threadgroup(unsigned i) {
    return load_int(launch(), offsetof(Launch, threads_per_threadgroup) + size_t{4} * i);
  }
  llvm::Value* threadgroups_per_grid(unsigned i) {
    return load_int(launch(), offsetof(Launch, threadgroups_per_grid) + size_t{4} * i);
  }
  llvm::Value* grid_origin(unsigned i) {
    return load_int(launch(), offsetof(Launch, grid_origin) + size_t{4} * i);
  }
  llvm::Value* cached_stores() {
    return load(builder_.getInt64Ty(), launch(), offsetof(Launch, cached_stores));
  }
  llvm::Value* checked_begin(unsigned i) {
    return load_pointer(checked(), sizeof(CheckedMemory) * i + offsetof(CheckedMemory, begin));
  }
  llvm::Value* checked_bytes(unsigned i) {
    return load(builder_.getInt64Ty(), checked(),
                sizeof(CheckedMemory) * i + offsetof(CheckedMemory, bytes));
  }
  llvm::Value* checked_stamps(unsigned i, bool reads) {
    const size_t member = reads ? offsetof(CheckedMemory, read) : offsetof(CheckedMemory, written);
    return load_pointer(checked(), sizeof(CheckedMemory) * i + member);
  }
  llvm::Value* checked_undefined(unsigned i) {
    return load_pointer(checked(), sizeof(CheckedMemory) * i + offsetof(CheckedMemory, undefined));
  }
  llvm::Value* order_stride() {
    return load(builder_.getInt64Ty(), launch(), offsetof(Launch, order_stride));
  }
  // The fences keep the code of other threads from moving across the store.
  void set_thread(llvm::Value* index) {
    const auto fence = [this] {
      builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent,
                           llvm::SyncScope::SingleThread);
    };
    fence();
    builder_.CreateStore(
        index,
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), group_, offsetof(Group, thread)),
        /*isVolatile=*/true);
    fence();
  }

 private:
  // A launch does not change while its kernel runs, so loads are invariant.
  llvm::LoadInst* load(llvm::Type* type, llvm::Value* base, size_t offset) {
    llvm::LoadInst* load = builder_.CreateLoad(
        type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(builder_.getContext(), {}));
    return load;
  }
  llvm::Value* checked() { return load_pointer(launch(), offsetof(Launch, checked)); }
  llvm::Value* load_pointer(llvm::Value* base, size_t offset) {
    return load(builder_.getPtrTy(), base, offset);
  }
  // The address of an object that exists while the kernel runs. So LLVM may move loads from it out
  // of loops and branches.
  llvm::Value* load_object(llvm::Value* base, size_t offset, size_t size, size_t alignment) {
    auto* pointer = load(builder_.getPtrTy(), base, offset);
    auto mark = [&](unsigned kind, uint64_t value) {
      auto* number = llvm::ConstantAsMetadata::get(builder_.getInt64(value));
      pointer->setMetadata(kind, llvm::MDNode::get(builder_.getContext(), number));
    };
    mark(llvm::LLVMContext::MD_dereferenceable, size);
    mark(llvm::LLVMContext::MD_align, alignment);
    return pointer;
  }
  llvm::Value* load_int(llvm::Value* base, size_t offset) {
    return load(builder_.getInt32Ty(), base, offset);
  }

  llvm::IRBuilder<>& builder_;
  llvm::Value* group_;
};

}  // namespace metal::cpu
