// Makes the entry points of scalar code around a kernel's body.
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/codegen/build_loop.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {

using llvm::BasicBlock;
using llvm::Value;

llvm::Function* create_entry(llvm::Function& body) {
  llvm::Module& module = *body.getParent();
  llvm::IRBuilder<> builder(module.getContext());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(),
                                       {builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto* entry =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel_entry", module);
  entry->addFnAttrs(llvm::AttrBuilder(module.getContext(), body.getAttributes().getFnAttrs()));
  entry->getArg(0)->setName("group");
  mark_group(*entry->getArg(0));
  entry->getArg(1)->setName("thread");
  body.addFnAttr(llvm::Attribute::AlwaysInline);
  return entry;
}

void mark_constant_loads(llvm::Function& body) {
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || load->getPointerAddressSpace() != kConstantMemory) continue;
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(body.getContext(), {}));
  }
}

llvm::Function* make_group_entry(llvm::Function& body, bool records_thread) {
  llvm::Function* entry = create_entry(body);
  llvm::IRBuilder<> b(BasicBlock::Create(body.getContext(), "entry", entry));
  GroupAccess group(b, entry->getArg(0));
  Value* sizes[] = {group.size(0), group.size(1), group.size(2)};
  Value* zero = b.getInt32(0);
  build_loop(b, zero, sizes[2], 1, "z", [&](Value* z) {
    build_loop(b, zero, sizes[1], 1, "y", [&](Value* y) {
      Value* row = b.CreateMul(b.CreateAdd(b.CreateMul(z, sizes[1]), y), sizes[0]);
      build_loop(b, zero, sizes[0], 1, "x", [&](Value* x) {
        Value* index = b.CreateNUWAdd(row, x);
        if (records_thread) group.set_thread(index);
        b.CreateCall(&body, {entry->getArg(0), x, y, z, index, zero, b.getTrue()});
      });
    });
  });
  b.CreateRetVoid();
  return entry;
}

llvm::Function* make_thread_entry(llvm::Function& body) {
  llvm::Function* entry = create_entry(body);
  llvm::IRBuilder<> builder(BasicBlock::Create(body.getContext(), "entry", entry));
  GroupAccess group(builder, entry->getArg(0));
  Value* index = entry->getArg(1);
  Value* x = builder.CreateURem(index, group.size(0));
  Value* row = builder.CreateUDiv(index, group.size(0));
  Value* y = builder.CreateURem(row, group.size(1));
  Value* z = builder.CreateUDiv(row, group.size(1));
  Value* lane = builder.CreateAnd(index, kSimdWidth - 1);
  builder.CreateCall(&body, {entry->getArg(0), x, y, z, index, lane, builder.getTrue()});
  builder.CreateRetVoid();
  return entry;
}

}  // namespace metal::cpu
