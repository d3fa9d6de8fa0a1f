#include "metal/cpu/vectorizer/matrix/join_products.h"

#include <array>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_rows.h"
#include "metal/cpu/vectorizer/matrix/row_products.h"
#include "metal/cpu/vectorizer/matrix/simdgroup_matrix.h"

namespace metal::cpu {
namespace {

using llvm::Value;
using Calls = llvm::SmallVector<llvm::CallInst*>;

bool is_vector_of_lanes(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() == kSimdWidth && vector->getScalarSizeInBits() == 32;
}

// Which variable of the thread an instruction stores to; null for anything else.
const Value* variable_stored_to(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!store || !store->isSimple()) return nullptr;
  return llvm::dyn_cast<llvm::AllocaInst>(
      llvm::getUnderlyingObject(store->getPointerOperand(), /*MaxLookup=*/0));
}

// Whether an address may lie in a variable of the thread, which functions are given but do not
// keep.
bool may_point_into(const Value* address, const Value* variable) {
  llvm::SmallVector<const Value*> objects;
  llvm::getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return llvm::any_of(objects, [variable](const Value* object) {
    return object == variable ||
           !llvm::isa<llvm::AllocaInst, llvm::LoadInst, llvm::GlobalVariable, llvm::Argument>(
               object);
  });
}

// A matrix in the memory of two variables: the lanes' first and their second elements.
class LaneMatrix {
 public:
  LaneMatrix(Value* first, Value* second) : memory_{first, second} {}

  // Finds the stores. False where anything but products takes less than all lanes' elements, or one
  // kind is written without the other.
  bool find_whole_stores(const Calls& products) {
    llvm::MapVector<llvm::BasicBlock*, llvm::SmallVector<llvm::StoreInst*>> stores;
    for (Value* memory : memory_) {
      if (!llvm::isa<llvm::AllocaInst>(memory)) return false;
      for (llvm::User* user : memory->users()) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
          if (!load->isSimple() || !is_vector_of_lanes(load->getType())) return false;
        } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
          if (!store->isSimple() || store->getPointerOperand() != memory ||
              !is_vector_of_lanes(store->getValueOperand()->getType()))
            return false;
          stores[store->getParent()].push_back(store);
        } else if (!llvm::is_contained(products, user)) {
          return false;
        }
      }
    }
    return llvm::all_of(stores, [&](auto& block) { return pair(block.second); });
  }

  // The memory of its rows, which takes the place of that of its lanes.
  void move_to_rows() {
    auto* lanes = checked_cast<llvm::AllocaInst>(memory_[0]);
    llvm::IRBuilder<> b(lanes);
    rows_ = b.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), size_t{2} * kSimdWidth), nullptr,
                           "rows");
    checked_cast<llvm::AllocaInst>(rows_)->setAlignment(llvm::Align(64));
    for (const auto& [first, second] : stores_) store_rows(*first, *second);
    for (unsigned element = 0; element < 2; ++element) {
      for (llvm::User* user : llvm::make_early_inc_range(memory_[element]->users())) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) load_rows(*load, element);
      }
    }
  }

  Value* rows() const { return rows_; }

  // Where a product finds the rows: there from where lanes loaded them, if that has not changed.
  RowMemory rows_for(const llvm::CallInst& product, const Calls& products) const {
    if (stores_.size() == 1 && source_.start && last_store_->getParent() == product.getParent() &&
        last_store_->comesBefore(&product) && is_unchanged(product, products))
      return source_;
    return {rows_, RowProducts::kDensePitch};
  }

 private:
  using StorePair = std::pair<llvm::StoreInst*, llvm::StoreInst*>;

  // Each store of first elements with one of second ones, nothing between them.
  bool pair(llvm::SmallVector<llvm::StoreInst*>& stores) {
    llvm::sort(stores, [](const auto* a, const auto* b) { return a->comesBefore(b); });
    if (stores.size() % 2) return false;
    for (size_t i = 0; i < stores.size(); i += 2) {
      if (stores[i]->getPointerOperand() == stores[i + 1]->getPointerOperand()) return false;
      for (const llvm::Instruction* between = stores[i]->getNextNode(); between != stores[i + 1];
           between = between->getNextNode()) {
        if (llvm::is_contained(between->operands(), memory_[0]) ||
            llvm::is_contained(between->operands(), memory_[1]))
          return false;
      }
      const bool swapped = stores[i]->getPointerOperand() == memory_[1];
      stores_.emplace_back(stores[i + (swapped ? 1 : 0)], stores[i + (swapped ? 0 : 1)]);
    }
    return true;
  }

  Value* words(llvm::IRBuilder<>& b, Value* lanes) {
    return b.CreateBitCast(lanes, llvm::FixedVectorType::get(b.getInt32Ty(), kSimdWidth));
  }

  Value* row_pair(llvm::IRBuilder<>& b, size_t number) {
    return b.CreateConstGEP1_64(b.getInt8Ty(), rows_,
                                static_cast<int64_t>(number) * 2 * RowProducts::kDensePitch);
  }

  void store_rows(llvm::StoreInst& first, llvm::StoreInst& second) {
    last_store_ = first.comesBefore(&second) ? &second : &first;
    llvm::IRBuilder<> b(last_store_);
    const LaneElements lanes{first.getValueOperand(), second.getValueOperand()};
    source_ = find_rows(b, lanes, loads_);
    for (const auto& [number, rows] :
         llvm::enumerate(rows_of_lanes(b, {words(b, lanes.first), words(b, lanes.second)})))
      last_store_ = b.CreateAlignedStore(rows, row_pair(b, number), llvm::Align(64));
    first.eraseFromParent();
    second.eraseFromParent();
  }

  void load_rows(llvm::LoadInst& load, unsigned element) {
    llvm::IRBuilder<> b(&load);
    llvm::SmallVector<Value*> rows;
    auto* type = llvm::FixedVectorType::get(b.getInt32Ty(), kSimdWidth / 2);
    for (size_t number = 0; number < 4; ++number)
      rows.push_back(b.CreateAlignedLoad(type, row_pair(b, number), llvm::Align(64)));
    load.replaceAllUsesWith(b.CreateBitCast(lanes_of_rows(b, rows, element), load.getType()));
    load.eraseFromParent();
  }

  bool is_unchanged(const llvm::CallInst& product, const Calls& products) const {
    if (llvm::any_of(loads_,
                     [&](const auto* load) { return load->getParent() != product.getParent(); }))
      return false;
    const llvm::Instruction* step =
        *llvm::min_element(loads_, [](const auto* a, const auto* b) { return a->comesBefore(b); });
    for (; step != &product; step = step->getNextNode()) {
      if (step->mayWriteToMemory() && !llvm::is_contained(products, step) &&
          !variable_stored_to(*step))
        return false;
    }
    return true;
  }

  Value* memory_[2];
  Value* rows_ = nullptr;
  llvm::SmallVector<StorePair> stores_;
  // Of the last pair of stores, which matters if it is the only one.
  llvm::StoreInst* last_store_ = nullptr;
  RowMemory source_;
  llvm::SmallVector<llvm::LoadInst*> loads_;
};

// One product, its operands' rows in memory.
struct RowProduct {
  llvm::CallInst* call;
  Value* a;
  Value* b;
  Value* c;
  int64_t a_pitch;
  int64_t b_pitch;

  bool changes_factor_of(const RowProduct& other) const { return c == other.a || c == other.b; }
};

// Products of which none needs the result of another, except to add to it. Those that share an A or
// a B are joined, and what is then added to their sums with them.
class ProductJoiner {
 public:
  explicit ProductJoiner(const llvm::Function& single) : single_(single) {}

  void add(const RowProduct& product) {
    const bool independent = llvm::none_of(products_, [&](const RowProduct& other) {
      return other.changes_factor_of(product) || product.changes_factor_of(other);
    });
    if (!independent) join();
    products_.push_back(product);
  }

  // Whether they may be computed behind it as well.
  bool may_follow(const llvm::Instruction& instruction) const {
    if (!instruction.mayReadOrWriteMemory()) return true;
    if (const Value* variable = variable_stored_to(instruction)) return !uses(variable);
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    return load && load->isSimple() && llvm::none_of(products_, [&](const RowProduct& product) {
             return may_point_into(load->getPointerOperand(), product.c);
           });
  }

  void join() {
    if (products_.empty()) return;
    llvm::Instruction& next = *products_.back().call->getNextNode();
    while (!products_.empty()) {
      const RowProduct first = products_[0];
      Block block = block_with(first);
      llvm::SmallVector<Value*> operands;
      unsigned times = 0;
      do {
        operands.append(block.as);
        operands.append(block.bs);
        take(block);
        ++times;
      } while (times < RowProducts::kMostTimes && go_on(first, block));
      operands.append(block.cs);
      const RowProducts joined{static_cast<unsigned>(block.as.size()),
                               static_cast<unsigned>(block.bs.size()), times, first.a_pitch,
                               first.b_pitch};
      llvm::IRBuilder<>(&next).CreateCall(get_row_products(*next.getModule(), joined, single_),
                                          operands);
    }
  }

 private:
  // Each of some A times each of some B, and what they are added to: row by row.
  struct Block {
    llvm::SmallVector<Value*> as;
    llvm::SmallVector<Value*> bs;
    llvm::SmallVector<Value*> cs;
  };

  bool uses(const Value* variable) const {
    return llvm::any_of(products_, [&](const RowProduct& product) {
      return llvm::any_of(std::array{product.a, product.b, product.c}, [&](const Value* rows) {
        return llvm::getUnderlyingObject(rows, /*MaxLookup=*/0) == variable;
      });
    });
  }

  static bool same_pitches(const RowProduct& one, const RowProduct& other) {
    return one.a_pitch == other.a_pitch && one.b_pitch == other.b_pitch;
  }

  // What is added to a sum before anything else; null if nothing is.
  RowProduct* next_of(const Value* c) {
    auto* found = llvm::find_if(products_, [&](const RowProduct& one) { return one.c == c; });
    return found == products_.end() ? nullptr : found;
  }

  // The next of its sum; null if none is.
  RowProduct* find(const RowProduct& like, const Value* a, const Value* b) {
    for (RowProduct& product : products_) {
      if (product.a == a && product.b == b && same_pitches(product, like) &&
          next_of(product.c) == &product)
        return &product;
    }
    return nullptr;
  }

  Block block_with(const RowProduct& first) {
    Block block;
    for (const RowProduct& product : products_) {
      if (block.bs.size() < RowProducts::kMost && !llvm::is_contained(block.bs, product.b) &&
          find(first, first.a, product.b))
        block.bs.push_back(product.b);
    }
    for (const RowProduct& product : products_) {
      if (block.as.size() < RowProducts::kMost && !llvm::is_contained(block.as, product.a) &&
          llvm::all_of(block.bs, [&](Value* b) { return find(first, product.a, b); }))
        block.as.push_back(product.a);
    }
    for (Value* a : block.as) {
      for (Value* b : block.bs) block.cs.push_back(find(first, a, b)->c);
    }
    return block;
  }

  // Its products are written: they go.
  void take(const Block& block) {
    for (const Value* c : block.cs) {
      RowProduct* product = next_of(c);
      product->call->eraseFromParent();
      products_.erase(product);
    }
  }

  // To what is added to the same sums next. False unless that is a block as well.
  bool go_on(const RowProduct& like, Block& block) {
    Block next{block.as, block.bs, block.cs};
    for (size_t row = 0; row < block.as.size(); ++row) {
      for (size_t column = 0; column < block.bs.size(); ++column) {
        const RowProduct* product = next_of(block.cs[row * block.bs.size() + column]);
        if (!product || !same_pitches(*product, like)) return false;
        if (column == 0) next.as[row] = product->a;
        if (row == 0) next.bs[column] = product->b;
        if (next.as[row] != product->a || next.bs[column] != product->b) return false;
      }
    }
    block = next;
    return true;
  }

  const llvm::Function& single_;
  llvm::SmallVector<RowProduct> products_;
};

// All products of a function.
class Products {
 public:
  Products(llvm::Function& wide, const llvm::Function& single) : wide_(wide), single_(single) {
    for (llvm::Instruction& instruction : llvm::instructions(wide)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && call->getCalledFunction() == &single) calls_.push_back(call);
    }
  }

  bool join() {
    if (calls_.empty() || !find_matrices()) return false;
    for (auto& [memory, matrix] : matrices_) matrix.move_to_rows();
    llvm::DenseMap<const llvm::Instruction*, RowProduct> products;
    for (llvm::CallInst* call : calls_) products[call] = row_product(*call);
    ProductJoiner joiner(single_);
    for (llvm::BasicBlock& block : wide_) {
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        if (const auto found = products.find(&instruction); found != products.end()) {
          joiner.add(found->second);
        } else if (!joiner.may_follow(instruction)) {
          joiner.join();
        }
      }
      joiner.join();
    }
    return true;
  }

 private:
  // By the first of their variables, of which each belongs to one matrix.
  bool find_matrices() {
    llvm::DenseMap<Value*, Value*> others;
    for (const llvm::CallInst* call : calls_) {
      for (unsigned matrix = 0; matrix < 3; ++matrix) {
        Value* first = call->getArgOperand(2 * matrix);
        Value* second = call->getArgOperand(2 * matrix + 1);
        if (others.try_emplace(first, second).first->second != second ||
            others.try_emplace(second, first).first->second != first || first == second)
          return false;
        matrices_.insert({first, LaneMatrix(first, second)});
      }
    }
    return llvm::all_of(matrices_,
                        [&](auto& entry) { return entry.second.find_whole_stores(calls_); });
  }

  RowProduct row_product(llvm::CallInst& call) const {
    auto matrix = [&](unsigned argument) -> const LaneMatrix& {
      return matrices_.find(call.getArgOperand(argument))->second;
    };
    const RowMemory a = matrix(0).rows_for(call, calls_), b = matrix(2).rows_for(call, calls_);
    return {&call, a.start, b.start, matrix(4).rows(), a.pitch, b.pitch};
  }

  llvm::Function& wide_;
  const llvm::Function& single_;
  Calls calls_;
  llvm::MapVector<Value*, LaneMatrix> matrices_;
};

}  // namespace

llvm::PreservedAnalyses JoinProductsPass::run(llvm::Function& wide,
                                              llvm::FunctionAnalysisManager& analyses) {
  const llvm::Function* single = wide.getParent()->getFunction(kMultiplyAccumulate);
  if (!single || single == &wide ||
      !has_row_products(wide, analyses.getResult<llvm::TargetIRAnalysis>(wide)) ||
      !Products(wide, *single).join())
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
