#include "metal/cpu/vectorizer/prefetch/prefetch_pieces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/prefetch/shared_reads.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"

namespace metal::cpu {
namespace {

using llvm::LoadInst;
using llvm::Value;

constexpr auto kLine = static_cast<int64_t>(kCacheLine);
constexpr int64_t kLeastPiece = 4 * kLine;  // processors follow shorter ones
constexpr int64_t kDistance = 32 * kLine;   // of a prefetch, at least

// Loads at known distances from one address.
struct Piece {
  struct Part {
    LoadInst* load;
    int64_t begin, end;  // bytes from the address
  };
  llvm::SmallVector<Part> parts;  // in the order of the program
};

class PiecesOfLoop {
 public:
  PiecesOfLoop(const llvm::Loop& loop, llvm::ScalarEvolution& evolution)
      : loop_(loop), strides_(loop, evolution) {}

  void prefetch() {
    for (llvm::BasicBlock* block : loop_.blocks()) {
      if (llvm::any_of(*block, is_prefetch)) return;
      for (llvm::Instruction& instruction : *block) add(instruction);
    }
    for (auto& [address, piece] : pieces_) {
      const auto* stride = llvm::dyn_cast_or_null<llvm::SCEVConstant>(strides_.of(address));
      if (stride && stride->getAPInt().isSignedIntN(32) && differs_between_threadgroups(address))
        prefetch(piece, stride->getAPInt().getSExtValue());
    }
  }

 private:
  void add(llvm::Instruction& instruction) {
    auto* load = llvm::dyn_cast<LoadInst>(&instruction);
    if (!load || !load->isSimple() || !load->getType()->isVectorTy() ||
        !is_device_memory(load->getPointerOperand()))
      return;
    const llvm::DataLayout& layout = load->getModule()->getDataLayout();
    const auto [address, begin] = split_constant(load->getPointerOperand(), layout);
    const auto size =
        static_cast<int64_t>(layout.getTypeStoreSize(load->getType()).getFixedValue());
    pieces_[address].parts.push_back({load, begin, begin + size});
  }

  // Nothing if the next iteration does not read on where this one ends.
  static void prefetch(const Piece& piece, int64_t stride) {
    const int64_t length = std::abs(stride);
    if (length < kLeastPiece || bytes_without_gap(piece) < length) return;
    const int64_t ahead = stride * ((kDistance + length - 1) / length);
    llvm::SmallDenseSet<int64_t, 32> lines;
    for (const Piece::Part& part : piece.parts) {
      llvm::IRBuilder<> b(part.load);
      for (int64_t line = part.begin; line < part.end; line += kLine) {
        if (!lines.insert(llvm::divideFloorSigned(line, kLine)).second) continue;
        prefetch_line(b, part.load->getPointerOperand(), line - part.begin + ahead, Cache::First);
      }
    }
  }

  // Of a piece, 0 if it leaves out a cache line.
  static int64_t bytes_without_gap(const Piece& piece) {
    llvm::SmallVector<Piece::Part> parts = piece.parts;
    llvm::sort(parts, [](const auto& a, const auto& b) { return a.begin < b.begin; });
    int64_t end = parts.front().begin;
    for (const Piece::Part& part : parts) {
      if (part.begin >= end + kLine) return 0;
      end = std::max(end, part.end);
    }
    return end - parts.front().begin;
  }

  const llvm::Loop& loop_;
  StrideInLoop strides_;
  llvm::MapVector<Value*, Piece> pieces_;  // by address
};

}  // namespace

void prefetch_pieces(llvm::Module& module, llvm::FunctionAnalysisManager& analyses) {
  analyses.clear();
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost()) PiecesOfLoop(*loop, evolution).prefetch();
  }
  analyses.clear();
}

}  // namespace metal::cpu
