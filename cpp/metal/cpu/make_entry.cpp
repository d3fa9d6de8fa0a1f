// Entry points around a kernel's body.
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/group_access.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {
namespace {

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
  entry->getArg(1)->setName("unit");
  body.addFnAttr(llvm::Attribute::AlwaysInline);
  return entry;
}

// Threads without barriers between them have no order: what one does to shared memory in one
// iteration of the loop over threads, no other iteration depends on. Private memory is not
// included, it is reused by the next thread.
llvm::MDNode* mark_parallel_accesses(llvm::Function& body) {
  llvm::MDNode* group = llvm::MDNode::getDistinct(body.getContext(), {});
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer || pointer->getType()->getPointerAddressSpace() == 0) continue;
    instruction.setMetadata(llvm::LLVMContext::MD_access_group, group);
  }
  return group;
}

// Nothing writes constant memory while a kernel runs: what threads read there need not be read
// again after a store.
void mark_constant_loads(llvm::Function& body) {
  constexpr unsigned kConstant = 2;
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || load->getPointerAddressSpace() != kConstant) continue;
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(body.getContext(), {}));
  }
}

// for (i = 0; i < end; ++i) inside(i), from the builder's position on; leaves the builder after the
// loop.
template <typename Inside>
void build_loop(llvm::IRBuilder<>& builder, Value* end, const char* name, llvm::MDNode* parallel,
                Inside inside) {
  llvm::LLVMContext& context = builder.getContext();
  BasicBlock* before = builder.GetInsertBlock();
  BasicBlock* header =
      BasicBlock::Create(context, llvm::Twine(name) + ".loop", before->getParent());
  BasicBlock* after = BasicBlock::Create(context, llvm::Twine(name) + ".done", before->getParent());
  builder.CreateCondBr(builder.CreateICmpEQ(end, builder.getInt32(0)), after, header);
  builder.SetInsertPoint(header);
  llvm::PHINode* i = builder.CreatePHI(builder.getInt32Ty(), 2, name);
  i->addIncoming(builder.getInt32(0), before);
  inside(i);
  Value* next = builder.CreateNUWAdd(i, builder.getInt32(1));
  i->addIncoming(next, builder.GetInsertBlock());
  llvm::BranchInst* back = builder.CreateCondBr(builder.CreateICmpULT(next, end), header, after);
  if (parallel) {
    llvm::Metadata* accesses = llvm::MDNode::get(
        context, {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), parallel});
    llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, accesses});
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
  }
  builder.SetInsertPoint(after);
}

}  // namespace

llvm::Function* make_group_entry(llvm::Function& body) {
  llvm::MDNode* parallel = mark_parallel_accesses(body);
  mark_constant_loads(body);
  llvm::Function* entry = create_entry(body);
  llvm::IRBuilder<> builder(BasicBlock::Create(body.getContext(), "entry", entry));
  GroupAccess group(builder, entry->getArg(0));
  Value* sizes[] = {group.size(0), group.size(1), group.size(2)};
  build_loop(builder, sizes[2], "z", nullptr, [&](Value* z) {
    build_loop(builder, sizes[1], "y", nullptr, [&](Value* y) {
      Value* row =
          builder.CreateMul(builder.CreateAdd(builder.CreateMul(z, sizes[1]), y), sizes[0]);
      build_loop(builder, sizes[0], "x", parallel, [&](Value* x) {
        builder.CreateCall(&body, {entry->getArg(0), x, y, z, builder.CreateNUWAdd(row, x)});
      });
    });
  });
  builder.CreateRetVoid();
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
  builder.CreateCall(&body, {entry->getArg(0), x, y, z, index});
  builder.CreateRetVoid();
  return entry;
}

}  // namespace metal::cpu
