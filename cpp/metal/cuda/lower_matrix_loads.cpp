#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cuda/lane_operations.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/matrix_transposition.h"
#include "metal/cuda/trailing_zeros.h"

namespace metal::cuda {
namespace {

using llvm::CallInst;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

constexpr const char* kLoad = "__metal_simdgroup_load_threadgroup_16";
constexpr unsigned kRowBytes = 16;  // of a matrix of 16-bit elements
constexpr unsigned kElementBytes = 2;
constexpr unsigned kMostAtOnce = 4;  // matrices

bool loads_threadgroup_matrix(const llvm::Function& function) {
  return function.getName() == kLoad;
}

// A load whose rows in memory can be read at once: they are contiguous and aligned. If it is
// transposed, these are the columns of the matrix.
struct MatrixLoad {
  CallInst* call;
  bool transposed;
  Value* start;                // of the first row in memory
  Value* step;                 // elements between the rows
  unsigned writes_before = 0;  // in its block
};

bool is_one(const Value* step) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step);
  return constant && constant->isOne();
}

std::optional<MatrixLoad> find_load(llvm::Instruction& instruction, const TrailingZeros& zeros) {
  auto* call = llvm::dyn_cast<CallInst>(&instruction);
  if (!call || !call->getCalledFunction() || !loads_threadgroup_matrix(*call->getCalledFunction()))
    return std::nullopt;
  Value* start = call->getArgOperand(compiler::kMatrixPointer);
  Value* row_step = call->getArgOperand(compiler::kMatrixRowStep);
  Value* column_step = call->getArgOperand(compiler::kMatrixColumnStep);
  const bool transposed = is_one(row_step);
  if (!transposed && !is_one(column_step)) return std::nullopt;
  Value* step = transposed ? column_step : row_step;
  if (!zeros.is_multiple(*start, kRowBytes) || !zeros.is_multiple(*step, kRowBytes / kElementBytes))
    return std::nullopt;
  return MatrixLoad{call, transposed, start, step};
}

// The bytes from one matrix to another one, if that is a constant.
std::optional<int64_t> distance(const MatrixLoad& from, const MatrixLoad& to,
                                llvm::ScalarEvolution& evolution) {
  const auto* bytes = llvm::dyn_cast<llvm::SCEVConstant>(
      evolution.getMinusSCEV(evolution.getSCEV(to.start), evolution.getSCEV(from.start)));
  return bytes ? std::optional(bytes->getAPInt().getSExtValue()) : std::nullopt;
}

// A matrix as a lane of Metal has it, or transposed.
struct Wanted {
  const MatrixLoad* load;
  bool columns;

  bool operator==(const Wanted&) const = default;
};

// Whether one instruction can load both.
bool are_near(const Wanted& x, const Wanted& y, llvm::ScalarEvolution& evolution) {
  return x.columns == y.columns && x.load->transposed == y.load->transposed &&
         x.load->step == y.load->step && x.load->writes_before == y.load->writes_before &&
         distance(*x.load, *y.load, evolution);
}

// What a block needs of the matrices that it loads, in the order in which its products need it.
// Their instructions have operands in consecutive registers, which one load should fill.
class WantedLoads {
 public:
  WantedLoads(llvm::BasicBlock& block, const TrailingZeros& zeros, llvm::ScalarEvolution& evolution)
      : evolution_(evolution) {
    unsigned writes = 0;
    for (llvm::Instruction& instruction : block) {
      if (instruction.mayWriteToMemory()) ++writes;
      if (auto load = find_load(instruction, zeros)) {
        load->writes_before = writes;
        loads_[load->call] = *load;
      }
    }
    for (const llvm::Instruction& instruction : block) add_operands(instruction);
    for (const auto& [call, load] : loads_)
      for (const llvm::User* user : call->users()) add({&load, is_matrix_transposition(user)});
  }

  const llvm::MapVector<const Value*, MatrixLoad>& loads() const { return loads_; }
  // Those that are near to each other are together.
  llvm::ArrayRef<llvm::SmallVector<Wanted>> groups() const { return groups_; }

 private:
  void add_operands(const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || !call->isConvergent()) return;
    for (const Value* operand : call->args()) {
      const Value* word = without_cast(operand);
      const bool columns = is_matrix_transposition(word);
      if (columns) word = without_cast(checked_cast<CallInst>(word)->getArgOperand(0));
      const auto load = loads_.find(word);
      if (load != loads_.end()) add({&load->second, columns});
    }
  }

  static const Value* without_cast(const Value* value) {
    const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value);
    return cast ? cast->getOperand(0) : value;
  }

  void add(const Wanted& wanted) {
    for (auto& group : groups_) {
      if (!are_near(group.front(), wanted, evolution_)) continue;
      if (!llvm::is_contained(group, wanted)) group.push_back(wanted);
      return;
    }
    groups_.push_back({wanted});
  }

  llvm::ScalarEvolution& evolution_;
  llvm::MapVector<const Value*, MatrixLoad> loads_;
  std::vector<llvm::SmallVector<Wanted>> groups_;
};

// Emits the instruction that loads up to four matrices.
class LoadInstruction {
 public:
  LoadInstruction(llvm::ArrayRef<Wanted> wanted, llvm::ScalarEvolution& evolution)
      : wanted_(wanted), first_(find_first(wanted)), b_(first_.call) {
    for (const Wanted& each : wanted) offsets_.push_back(*distance(first_, *each.load, evolution));
  }

  void emit() {
    Value* address = address_of_row();
    Value* words = b_.CreateIntrinsic(instruction(), {address->getType()}, {address});
    for (const auto& [i, wanted] : llvm::enumerate(wanted_)) {
      Value* word = wanted_.size() == 1 ? words : b_.CreateExtractValue(words, i);
      CallInst* call = wanted.load->call;
      if (!wanted.columns) {
        call->replaceUsesWithIf(
            word, [](const llvm::Use& use) { return !is_matrix_transposition(use.getUser()); });
        continue;
      }
      for (llvm::User* user : llvm::make_early_inc_range(call->users())) {
        if (!is_matrix_transposition(user)) continue;
        user->replaceAllUsesWith(word);
        checked_cast<CallInst>(user)->eraseFromParent();
      }
    }
  }

 private:
  static const MatrixLoad& find_first(llvm::ArrayRef<Wanted> wanted) {
    const MatrixLoad* first = wanted[0].load;
    for (const Wanted& other : wanted)
      if (other.load->call->comesBefore(first->call)) first = other.load;
    return *first;
  }

  Intrinsic::ID instruction() const {
    const bool transposes = wanted_[0].columns != first_.transposed;
    switch (wanted_.size()) {
      case 1:
        return transposes ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16
                          : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16;
      case 2:
        return transposes ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                          : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
      default:
        return transposes ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                          : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
    }
  }

  // Lanes 0 to 7 give the addresses of the first matrix's rows, 8 to 15 those of the second one.
  Value* address_of_row() {
    Value* lane = b_.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
    lane = b_.CreateZExt(lane, b_.getInt64Ty());
    Value* row = b_.CreateMul(b_.CreateAnd(lane, 7), first_.step);
    Value* offset = b_.CreateAdd(b_.CreateMul(row, b_.getInt64(kElementBytes)),
                                 offset_of(b_.CreateLShr(lane, 3)));
    return b_.CreateGEP(b_.getInt8Ty(), first_.start, offset);
  }

  Value* offset_of(Value* matrix) {
    Value* offset = b_.getInt64(offsets_.back());
    for (size_t i = offsets_.size() - 1; i-- > 0;) {
      offset = b_.CreateSelect(b_.CreateICmpEQ(matrix, b_.getInt64(i)), b_.getInt64(offsets_[i]),
                               offset);
    }
    return offset;
  }

  llvm::ArrayRef<Wanted> wanted_;
  const MatrixLoad& first_;
  llvm::SmallVector<int64_t> offsets_;  // from the first one
  llvm::IRBuilder<> b_;
};

void lower(llvm::BasicBlock& block, const TrailingZeros& zeros, llvm::ScalarEvolution& evolution) {
  const WantedLoads loads(block, zeros, evolution);
  for (llvm::ArrayRef<Wanted> group : loads.groups()) {
    while (!group.empty()) {
      const size_t count = llvm::bit_floor(std::min<size_t>(group.size(), kMostAtOnce));
      LoadInstruction(group.take_front(count), evolution).emit();
      group = group.drop_front(count);
    }
  }
  for (const auto& [_, load] : loads.loads()) {
    evolution.forgetValue(load.call);
    load.call->eraseFromParent();
  }
}

}  // namespace

void inline_matrix_accesses(llvm::Module& module) {
  compiler::inline_matrix_accesses(module, loads_threadgroup_matrix);
  // The optimiser changes the arguments of internal functions.
  if (llvm::Function* load = module.getFunction(kLoad))
    load->setLinkage(llvm::Function::ExternalLinkage);
}

void lower_matrix_loads(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  if (!kernel.getParent()->getFunction(kLoad)) return;
  const compiler::Convergence convergence = find_convergence(kernel);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(kernel);
  const TrailingZeros zeros(kernel);
  for (llvm::BasicBlock& block : kernel) {
    if (convergence.is_convergent(block) && !convergence.is_leaving(block))
      lower(block, zeros, evolution);
  }
  compiler::inline_matrix_accesses(*kernel.getParent());
}

}  // namespace metal::cuda
