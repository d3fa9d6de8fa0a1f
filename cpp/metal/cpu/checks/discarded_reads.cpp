#include "metal/cpu/checks/discarded_reads.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

class UsedReads {
 public:
  explicit UsedReads(CheckBuilder& builder) : builder_(builder) {}

  void run(const std::vector<DeferredRead>& reads) {
    if (reads.empty()) return;
    type_ = reads.front().finding->getType();
    for (const DeferredRead& read : reads) {
      findings_[read.value] = read.finding;
      add_users(*read.value);
    }
    for (size_t i = 0; i < reached_.size(); ++i) add_users(*reached_[i]);
    for (Instruction* effect : effects_) needed(*effect);
    for (auto& [effect, finding] : uses_) report(*effect, *finding);
  }

 private:
  void add_users(Instruction& value) {
    for (llvm::User* user : value.users()) {
      auto* instruction = llvm::dyn_cast<Instruction>(user);
      if (!instruction) continue;
      if (passes_on(*instruction)) {
        if (!findings_.contains(instruction)) reached_.insert(instruction);
      } else if (!llvm::isa<llvm::AssumeInst>(instruction)) {
        effects_.insert(instruction);
      }
    }
  }

  void needed(Instruction& effect) {
    Value* finding = nullptr;
    llvm::IRBuilder<> b(&effect);
    for (Value* operand : effect.operands()) finding = either(b, finding, finding_of(operand));
    if (finding) uses_.emplace_back(&effect, finding);
  }

  // Null where there can be none.
  Value* finding_of(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return nullptr;
    if (const auto found = findings_.find(instruction); found != findings_.end())
      return found->second;
    if (!reached_.contains(instruction)) return nullptr;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) return of_phi(*phi);
    llvm::IRBuilder<> b(instruction->getNextNode());
    Value* finding = nullptr;
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(instruction)) {
      finding = of_select(b, *select);
    } else if (is_logical(*instruction)) {
      finding = of_logical(b, *instruction);
    } else {
      for (Value* operand : instruction->operands())
        finding = either(b, finding, finding_of(operand));
    }
    return findings_[instruction] = finding;
  }

  Value* of_phi(llvm::PHINode& phi) {
    llvm::IRBuilder<> b(&phi);
    llvm::PHINode* finding = b.CreatePHI(type_, phi.getNumIncomingValues());
    findings_[&phi] = finding;  // loops come back to it
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
      finding->addIncoming(or_none(finding_of(phi.getIncomingValue(i))), phi.getIncomingBlock(i));
    return finding;
  }

  // Of the value that is chosen. Vectors choose by elements: each of them may be.
  Value* of_select(llvm::IRBuilder<>& b, llvm::SelectInst& select) {
    Value* yes = finding_of(select.getTrueValue());
    Value* no = finding_of(select.getFalseValue());
    Value* chosen = nullptr;
    if (select.getCondition()->getType()->isVectorTy()) {
      chosen = either(b, yes, no);
    } else if (yes || no) {
      chosen = b.CreateSelect(select.getCondition(), or_none(yes), or_none(no));
    }
    return either(b, finding_of(select.getCondition()), chosen);
  }

  static bool is_logical(const Instruction& instruction) {
    return instruction.getType()->isIntegerTy(1) && (instruction.getOpcode() == Instruction::And ||
                                                     instruction.getOpcode() == Instruction::Or);
  }

  // Where one side decides alone, the other does not count.
  Value* of_logical(llvm::IRBuilder<>& b, Instruction& instruction) {
    Value* left = finding_of(instruction.getOperand(0));
    Value* right = finding_of(instruction.getOperand(1));
    const bool is_or = instruction.getOpcode() == Instruction::Or;
    auto decides = [&](Value* side, Value* finding) {
      Value* decided = is_or ? side : b.CreateNot(side);
      return finding ? b.CreateAnd(decided, b.CreateICmpEQ(finding, none())) : decided;
    };
    Value* both = either(b, left, right);
    if (!both) return nullptr;
    Value* decided = b.CreateOr(decides(instruction.getOperand(0), left),
                                decides(instruction.getOperand(1), right));
    return b.CreateSelect(decided, none(), both);
  }

  Value* none() const { return llvm::Constant::getNullValue(type_); }
  Value* or_none(Value* finding) const { return finding ? finding : none(); }

  Value* either(llvm::IRBuilder<>& b, Value* one, Value* other) {
    if (!one || !other || one == other) return one ? one : other;
    return b.CreateSelect(b.CreateICmpNE(one, none()), one, other);
  }

  void report(Instruction& effect, Value& finding) {
    llvm::IRBuilder<> b(&effect);
    b.SetInsertPoint(builder_.unlikely_if(b.CreateICmpNE(&finding, none()), effect));
    builder_.call(b, "metal_cpu_check_used", b.getVoidTy(),
                  {b.CreateZExt(&finding, b.getInt32Ty())});
  }

  CheckBuilder& builder_;
  llvm::Type* type_ = nullptr;  // of findings
  llvm::DenseMap<Instruction*, Value*> findings_;
  llvm::SetVector<Instruction*> reached_;  // values that depend on a read
  llvm::SetVector<Instruction*> effects_;
  std::vector<std::pair<Instruction*, Value*>> uses_;
};

}  // namespace

bool passes_on(const Instruction& instruction) {
  if (llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::UnaryOperator, llvm::BinaryOperator,
                llvm::CastInst, llvm::CmpInst, llvm::GetElementPtrInst, llvm::FreezeInst,
                llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst,
                llvm::ExtractValueInst, llvm::InsertValueInst>(instruction))
    return true;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->doesNotAccessMemory() && !call->getType()->isVoidTy();
}

void report_used_reads(CheckBuilder& builder, const std::vector<DeferredRead>& reads) {
  UsedReads(builder).run(reads);
}

}  // namespace metal::cpu
