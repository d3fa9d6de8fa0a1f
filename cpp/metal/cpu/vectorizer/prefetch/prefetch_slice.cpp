#include "metal/cpu/vectorizer/prefetch/prefetch_slice.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;
using Set = llvm::SmallPtrSet<const Value*, 32>;

constexpr unsigned kMaxSliceInstructions = 256;  // size of the slice
constexpr unsigned kMaxSliceIterations = 8;      // iterations of its loops

// The address of an access to memory that other threads may write; null for other instructions.
const Value* device_address(const Instruction& instruction) {
  const Value* address = llvm::getLoadStorePointerOperand(&instruction);
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    address = atomic->getPointerOperand();
  if (!address || reads_constants(instruction)) return nullptr;
  return is_device_memory(address) ? address : nullptr;
}

bool is_read(const Value* value) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  return load && device_address(*load);
}

// All instructions that depend on any of `sources`, and these.
Set dependents(llvm::ArrayRef<const Instruction*> sources) {
  Set found;
  llvm::SmallVector<const Value*> work(sources.begin(), sources.end());
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    if (!found.insert(value).second) continue;
    work.append(value->user_begin(), value->user_end());
  }
  return found;
}

// The reads that a value depends on.
llvm::SmallVector<const Instruction*> reads_behind(const Value* value) {
  Set found;
  llvm::SmallVector<const Instruction*> reads;
  llvm::SmallVector<const Value*> work{value};
  while (!work.empty()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(work.pop_back_val());
    if (!instruction || !found.insert(instruction).second) continue;
    if (is_read(instruction)) reads.push_back(instruction);
    work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return reads;
}

// The length of the longest chain of dependent reads behind each value. 3 stands for 3 or more.
class Levels {
 public:
  explicit Levels(llvm::Function& body) {
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal(&body)) {
        for (Instruction& instruction : *block) changed |= update(instruction);
      }
    }
  }

  unsigned operator[](const Value* value) const { return levels_.lookup(value); }

 private:
  bool update(const Instruction& instruction) {
    unsigned level = 0;
    for (const Value* operand : instruction.operand_values())
      level = std::max(level, (*this)[operand]);
    if (is_read(&instruction)) level = std::min(level + 1, 3u);
    return std::exchange(levels_[&instruction], level) != level;
  }

  llvm::DenseMap<const Value*, unsigned> levels_;
};

Buffers written_buffers(const llvm::Function& body, llvm::LoopInfo& loops) {
  Buffers written(loops);
  for (const Instruction& instruction : llvm::instructions(body)) {
    if (instruction.mayWriteToMemory()) written.add_operands(instruction);
  }
  return written;
}

// Whether the slice leaves the instruction out: it has effects, or it reads private variables or
// memory that the kernel writes, which has no values yet.
bool is_dropped(const Instruction& instruction, const Buffers& written) {
  if (instruction.mayWriteToMemory()) return true;
  if (llvm::isa<llvm::LoadInst>(instruction) && !reads_constants(instruction)) {
    const Value* address = device_address(instruction);
    return !address || written.may_contain(address);
  }
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(compiler::kRuntimePrefix);
}

// Decides which instructions of the body the slice keeps, prefetches or drops.
class Plan {
 public:
  explicit Plan(llvm::Function& body) : body_(body), levels_(body), loops_(dominators_) {
    const Buffers written = written_buffers(body, loops_);
    llvm::SmallVector<const Instruction*> indirect;
    for (const Instruction& instruction : llvm::instructions(body)) {
      const Value* address = device_address(instruction);
      if (address && levels_[address] > 0) {
        indirect.push_back(&instruction);
      } else if (is_dropped(instruction, written)) {
        dropped.push_back(&instruction);
      }
    }
    for (const Instruction* access : indirect) {
      if (is_prefetchable(*access)) prefetched.push_back(access);
    }
    keep_needed_reads(indirect, written);
    find_unknown();
  }

  // Whether no branch depends on a value that the slice drops.
  bool branches_are_known() const {
    return llvm::none_of(body_, [&](const llvm::BasicBlock& block) {
      return block.getTerminator()->getNumSuccessors() > 1 &&
             unknown_.contains(block.getTerminator());
    });
  }

  llvm::SmallVector<const Instruction*> prefetched;  // accesses to addresses that were read
  llvm::SmallVector<const Instruction*> dropped;

 private:
  // In a loop, an access is prefetched only if its address is read in the loop. An address that was
  // read before the loop and only grows is left to the processor.
  bool is_prefetchable(const Instruction& access) const {
    const Value* address = device_address(access);
    if (levels_[address] > 2) return false;
    const llvm::Loop* loop = loops_.getLoopFor(access.getParent());
    return !loop || llvm::any_of(reads_behind(address),
                                 [loop](const Instruction* read) { return loop->contains(read); });
  }

  // Keeps the reads that a prefetched address depends on. All other accesses to addresses that were
  // read are dropped.
  void keep_needed_reads(llvm::ArrayRef<const Instruction*> indirect, const Buffers& written) {
    Set needed;
    for (const Instruction* access : prefetched) {
      const Value* address = device_address(*access);
      if (levels_[address] < 2) continue;
      const auto reads = reads_behind(address);
      needed.insert(reads.begin(), reads.end());
    }
    llvm::erase_if(prefetched, [&](const Instruction* access) { return needed.contains(access); });
    for (const Instruction* access : indirect) {
      if (!needed.contains(access) || is_dropped(*access, written)) dropped.push_back(access);
    }
  }

  void find_unknown() {
    unknown_ = dependents(dropped);
    // A read from an address that depends on a dropped value is dropped as well.
    for (const Instruction& instruction : llvm::instructions(body_)) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && unknown_.contains(load->getPointerOperand()) &&
          !llvm::is_contained(dropped, load))
        dropped.push_back(load);
    }
    llvm::erase_if(prefetched, [&](const Instruction* access) {
      return unknown_.contains(device_address(*access));
    });
  }

  llvm::Function& body_;
  const Levels levels_;
  const llvm::DominatorTree dominators_{body_};
  llvm::LoopInfo loops_;
  Set unknown_;  // all that depends on dropped instructions
};

void prefetch(Instruction& access) {
  llvm::IRBuilder<> b(&access);
  auto* address = const_cast<Value*>(device_address(access));
  create_prefetch(b, address, Cache::Second, access.mayWriteToMemory());
}

// Makes the slice return after so many iterations of a loop: it has prefetched enough by then.
void limit_iterations(llvm::Loop& loop, llvm::DominatorTree& dominators, llvm::LoopInfo& loops) {
  llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  llvm::Function& function = *header->getParent();
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* again = llvm::SplitEdge(latch, header, &dominators, &loops);
  auto* enough = llvm::BasicBlock::Create(context, "enough", &function);
  llvm::IRBuilder<> b(header, header->begin());
  llvm::PHINode* iteration = b.CreatePHI(b.getInt32Ty(), 2, "iteration");
  b.SetInsertPoint(again->getTerminator());
  Value* next = b.CreateAdd(iteration, b.getInt32(1));
  b.CreateCondBr(b.CreateICmpULT(next, b.getInt32(kMaxSliceIterations)), header, enough);
  again->getTerminator()->eraseFromParent();
  for (llvm::BasicBlock* from : llvm::predecessors(header))
    iteration->addIncoming(from == again ? next : b.getInt32(0), from);
  b.SetInsertPoint(enough);
  llvm::Type* result = function.getReturnType();
  result->isVoidTy() ? b.CreateRetVoid() : b.CreateRet(llvm::Constant::getNullValue(result));
}

// Whether the loop prefetches. Other loops are not worth running.
bool prefetches_in_loop(const llvm::Loop& loop) {
  return loop.getLoopLatch() && llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
           return llvm::any_of(*block, is_prefetch);
         });
}

void limit_loops(llvm::Function& slice) {
  llvm::DominatorTree dominators(slice);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (prefetches_in_loop(*loop)) limit_iterations(*loop, dominators, loops);
  }
}

}  // namespace

llvm::Function* make_prefetch_slice(llvm::Function& body) {
  const Plan plan(body);
  if (plan.prefetched.empty() || !plan.branches_are_known()) return nullptr;
  llvm::ValueToValueMapTy clones;
  llvm::Function* clone = llvm::CloneFunction(&body, clones);
  clone->setName(body.getName() + ".prefetch");
  for (const Instruction* access : plan.prefetched)
    prefetch(*checked_cast<Instruction>(clones[access]));
  for (const Instruction* instruction : plan.dropped) {
    auto* copy = checked_cast<Instruction>(clones[instruction]);
    if (!copy->getType()->isVoidTy())
      copy->replaceAllUsesWith(llvm::Constant::getNullValue(copy->getType()));
    copy->eraseFromParent();
  }
  limit_loops(*clone);
  return clone;
}

bool is_quick(llvm::Function& slice) {
  const llvm::DominatorTree dominators(slice);
  const llvm::LoopInfo loops(dominators);
  return slice.getInstructionCount() <= kMaxSliceInstructions &&
         llvm::all_of(loops.getLoopsInPreorder(),
                      [](const llvm::Loop* loop) { return prefetches_in_loop(*loop); });
}

bool prefetches(const llvm::Function& wide) {
  return llvm::any_of(llvm::instructions(wide), is_prefetch);
}

}  // namespace metal::cpu
