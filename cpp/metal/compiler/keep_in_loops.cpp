// Keeps calls of SIMD-group functions in the loops that the source has them in.
//
//   for (uint i = 0; i < n; ++i) {
//     if (i == lane) {
//       sum = simd_sum(x);
//       break;
//     }
//   }
//
// In Clang's code, the block of this call leaves the loop, so it is not in the loop: threads that
// leave in different iterations would run it together. In the source, it is part of an iteration.
// This step makes such blocks lead to the end of the iteration, where a switch leaves the loop.
// Clang does the same where a variable's scope ends there.
//
// The same happens to `if (c) continue; sum = simd_sum(x); if (d) break;` if the optimiser finds
// that `d` always holds. So branches out of a loop behind a call that lanes may skip lead there,
// too.
#include <map>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;
using llvm::Loop;

using Callers = llvm::SetVector<const Function*>;
using Blocks = llvm::SmallSetVector<BasicBlock*, 8>;

// Finds the SIMD-group functions and all functions that call some.
Callers find_callers(const llvm::Module& module) {
  const std::string prefix = std::string(kRuntimePrefix) + "simd";
  Callers found;
  for (const Function& function : module) {
    if (function.isDeclaration() && function.getName().starts_with(prefix)) found.insert(&function);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    for (const llvm::User* user : found[i]->users()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call) found.insert(call->getFunction());
    }
  }
  return found;
}

bool has_prefix(const BasicBlock& block, llvm::ArrayRef<llvm::StringRef> prefixes) {
  return llvm::any_of(prefixes, [&](auto prefix) { return block.getName().starts_with(prefix); });
}

// Clang's names tell which loops the source has, and where the code after one begins.
bool is_loop_of_source(const Loop& loop) {
  return has_prefix(*loop.getHeader(), {"for.", "while.", "do."});
}

bool is_end_of_loop(const BasicBlock& block) {
  return has_prefix(block, {"for.end", "while.end", "do.end"});
}

class LoopKeeper {
 public:
  LoopKeeper(Function& function, const Callers& callers) : function_(function), callers_(callers) {}

  void run() {
    split_returns();
    while (keep_in_one()) {
    }
  }

 private:
  // A call in the block that returns needs a way from it.
  void split_returns() {
    for (BasicBlock& block : llvm::make_early_inc_range(function_)) {
      Instruction* end = block.getTerminator();
      if (llvm::isa<llvm::ReturnInst>(end) && calls_simd_function(block))
        block.splitBasicBlock(end, "return");
    }
  }

  // Inner loops come first. Each loop is changed once. False if there is nothing left to change.
  bool keep_in_one() {
    dominators_.recalculate(function_);
    loops_.releaseMemory();
    loops_.analyze(dominators_);
    ends_.clear();
    auto loops = loops_.getLoopsInPreorder();
    for (Loop* loop : llvm::reverse(loops)) {
      if (!is_loop_of_source(*loop) || changed_.contains(loop->getHeader())) continue;
      Blocks leaving = blocks_that_leave(*loop);
      split_exits(*loop, leaving);
      if (leaving.empty()) continue;
      changed_.insert(loop->getHeader());
      keep(*loop, leaving);
      return true;
    }
    return false;
  }

  // Where the code behind a loop begins. Between the loop and there, other loops may lie.
  const Blocks& ends_of(const Loop& loop) {
    if (const auto known = ends_.find(&loop); known != ends_.end()) return known->second;
    llvm::SmallVector<BasicBlock*> exits;
    loop.getExitBlocks(exits);
    Blocks seen(exits.begin(), exits.end());
    Blocks found;
    for (size_t i = 0; i < seen.size(); ++i) {
      if (is_end_of_loop(*seen[i]) && !ends_one_of(seen, *seen[i])) {
        found.insert(seen[i]);
        continue;
      }
      for (BasicBlock* to : llvm::successors(seen[i])) {
        if (!loop.contains(to) && dominators_.dominates(loop.getHeader(), to)) seen.insert(to);
      }
    }
    return ends_[&loop] = std::move(found);
  }

  // Whether a block is the end of a loop whose header is among the blocks.
  bool ends_one_of(const Blocks& blocks, BasicBlock& end) {
    return llvm::any_of(blocks, [&](BasicBlock* block) {
      const Loop* loop = loops_.getLoopFor(block);
      return loop && loop->getHeader() == block && ends_of(*loop).contains(&end);
    });
  }

  bool calls_simd_function(const BasicBlock& block) const {
    return llvm::any_of(block, [&](const Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call && callers_.contains(call->getCalledFunction());
    });
  }

  // The blocks outside of a loop that the source has in it, as far as they lead to SIMD-group
  // functions.
  Blocks blocks_that_leave(const Loop& loop) {
    const Blocks& ends = ends_of(loop);
    Blocks outside;
    const auto is_inside = [&](BasicBlock* block) {
      return loop.contains(block) || outside.contains(block);
    };
    const auto add_successors = [&](BasicBlock* block) {
      for (BasicBlock* to : llvm::successors(block)) {
        const auto comes_from_inside = [&](BasicBlock* before) {
          return is_inside(before) || dominators_.dominates(to, before);
        };
        if (!is_inside(to) && !ends.contains(to) &&
            llvm::all_of(llvm::predecessors(to), comes_from_inside))
          outside.insert(to);
      }
    };
    for (size_t before = 1; before != outside.size();) {
      before = outside.size();
      for (BasicBlock* block : loop.blocks()) add_successors(block);
      for (size_t i = 0; i < outside.size(); ++i) add_successors(outside[i]);
    }
    return those_that_lead_to_calls(outside);
  }

  Blocks those_that_lead_to_calls(const Blocks& blocks) const {
    Blocks found;
    for (BasicBlock* block : blocks) {
      if (calls_simd_function(*block)) found.insert(block);
    }
    for (size_t i = 0; i < found.size(); ++i) {
      for (BasicBlock* before : predecessors(found[i])) {
        if (blocks.contains(before)) found.insert(before);
      }
    }
    return found;
  }

  // Whether an iteration may lead from one block to another without two others.
  static bool leads_to(const Loop& loop, BasicBlock* from, const BasicBlock* to,
                       llvm::ArrayRef<const BasicBlock*> without) {
    Blocks seen;
    const auto add = [&](BasicBlock* block) {
      if (loop.contains(block) && !llvm::is_contained(without, block)) seen.insert(block);
    };
    add(from);
    for (size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] == to) return true;
      for (BasicBlock* next : successors(seen[i])) {
        if (next != loop.getHeader()) add(next);
      }
    }
    return false;
  }

  // Whether lanes may come to the end of a block through a call, while others begin the next
  // iteration without both.
  bool follows_skipped_call(const Loop& loop, BasicBlock& block) const {
    llvm::SmallVector<BasicBlock*> latches;
    loop.getLoopLatches(latches);
    return llvm::any_of(loop.blocks(), [&](BasicBlock* call) {
      return calls_simd_function(*call) && leads_to(loop, call, &block, {}) &&
             llvm::any_of(latches, [&](const BasicBlock* latch) {
               return leads_to(loop, loop.getHeader(), latch, {call, &block});
             });
    });
  }

  // Puts blocks on branches out of the loop behind calls, and adds them to those that leave.
  void split_exits(Loop& loop, Blocks& leaving) {
    llvm::SmallVector<Loop::Edge> exits;
    loop.getExitEdges(exits);
    for (auto [from, to] : exits) {
      if (leaving.contains(to) || !follows_skipped_call(loop, *from)) continue;
      auto* leave = BasicBlock::Create(function_.getContext(), "leave", &function_, to);
      llvm::BranchInst::Create(to, leave);
      from->getTerminator()->replaceSuccessorWith(to, leave);
      to->replacePhiUsesWith(from, leave);
      leaving.insert(leave);
    }
  }

  void keep(Loop& loop, const Blocks& leaving) {
    BasicBlock* header = loop.getHeader();
    llvm::SmallVector<BasicBlock*> latches;
    loop.getLoopLatches(latches);
    Blocks ends;
    for (BasicBlock* block : leaving) {
      for (BasicBlock* to : successors(block)) {
        if (!leaving.contains(to)) ends.insert(to);
      }
    }
    demote_phis(*header);
    for (BasicBlock* end : ends) demote_phis(*end);
    for (BasicBlock* block : loop.blocks()) demote_values(*block, loop, leaving);
    for (BasicBlock* block : leaving) demote_values(*block, loop, leaving);

    llvm::IRBuilder<> builder(BasicBlock::Create(function_.getContext(), "reconverge", &function_));
    llvm::PHINode* way = builder.CreatePHI(builder.getInt32Ty(), 2, "way");
    llvm::SwitchInst* leave = builder.CreateSwitch(
        builder.CreateCall(way_function(*function_.getParent()), way), header, ends.size());
    for (BasicBlock* latch : latches) redirect(*latch, *header, *way, 0);
    for (unsigned i = 0; i < ends.size(); ++i) {
      leave->addCase(builder.getInt32(i + 1), ends[i]);
      for (BasicBlock* block : leaving) redirect(*block, *ends[i], *way, i + 1);
    }
  }

  // Makes a branch from `block` to `to` lead to the block of `way`, which goes on to `to`.
  void redirect(BasicBlock& block, BasicBlock& to, llvm::PHINode& way, unsigned number) {
    Instruction* end = block.getTerminator();
    if (!llvm::is_contained(successors(&block), &to)) return;
    auto* between = BasicBlock::Create(function_.getContext(), "way", &function_, &to);
    llvm::BranchInst::Create(way.getParent(), between);
    end->replaceSuccessorWith(&to, between);
    way.addIncoming(llvm::ConstantInt::get(way.getType(), number), between);
  }

  static void demote_phis(BasicBlock& block) {
    while (auto* phi = llvm::dyn_cast<llvm::PHINode>(&block.front())) llvm::DemotePHIToStack(phi);
  }

  // Values that are used behind the loop, to which other paths lead now.
  static void demote_values(BasicBlock& block, const Loop& loop, const Blocks& leaving) {
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      const bool used_behind = llvm::any_of(instruction.users(), [&](llvm::User* user) {
        BasicBlock* place = checked_cast<Instruction>(user)->getParent();
        return !loop.contains(place) && !leaving.contains(place);
      });
      if (used_behind) llvm::DemoteRegToStack(instruction);
    }
  }

  Function& function_;
  const Callers& callers_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::map<const Loop*, Blocks> ends_;
  llvm::SmallPtrSet<BasicBlock*, 8> changed_;  // headers of loops
};

bool reveal_ways_if(llvm::Module& module,
                    llvm::function_ref<bool(const llvm::CallInst&)> condition) {
  Function* way = module.getFunction(kWay);
  if (!way) return false;
  bool any = false;
  for (llvm::User* user : llvm::make_early_inc_range(way->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    if (!condition(*call)) continue;
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
    any = true;
  }
  return any;
}

}  // namespace

void keep_in_loops(llvm::Module& module) {
  const Callers callers = find_callers(module);
  for (Function& function : module) {
    if (!function.isDeclaration() && callers.contains(&function))
      LoopKeeper(function, callers).run();
  }
}

llvm::Function* way_function(llvm::Module& module) {
  llvm::Type* number = llvm::Type::getInt32Ty(module.getContext());
  auto callee =
      module.getOrInsertFunction(kWay, llvm::FunctionType::get(number, number, /*isVarArg=*/false));
  auto* function = checked_cast<Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setSpeculatable();
  return function;
}

void reveal_ways(Function& kernel) {
  reveal_ways_if(*kernel.getParent(),
                 [&](const llvm::CallInst& call) { return call.getFunction() == &kernel; });
}

bool reveal_known_ways(llvm::Module& module) {
  return reveal_ways_if(module, [](const llvm::CallInst& call) {
    return llvm::isa<llvm::Constant>(call.getArgOperand(0));
  });
}

}  // namespace metal::compiler
