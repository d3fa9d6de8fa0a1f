#include <optional>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cuda/lane_operations.h"
#include "metal/cuda/lane_order.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/matrix_transposition.h"

namespace metal::cuda {
namespace {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

using Pair = std::pair<Value*, Value*>;  // a lane's two elements of a matrix

// The 16-bit type from which an element was converted to float; null if there is none.
llvm::Type* narrow_type(const Value* element) {
  const auto* extension = llvm::dyn_cast<llvm::FPExtInst>(element);
  if (!extension) return nullptr;
  llvm::Type* type = extension->getSrcTy();
  return type->isHalfTy() || type->isBFloatTy() ? type : nullptr;
}

// The element in this type, if it has the same value there. Otherwise null.
Value* narrow(Value* element, llvm::Type* type) {
  if (narrow_type(element) == type) return checked_cast<llvm::FPExtInst>(element)->getOperand(0);
  const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(element);
  if (!constant) return nullptr;
  llvm::APFloat value = constant->getValueAPF();
  bool loses = false;
  value.convert(type->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return loses ? nullptr : llvm::ConstantFP::get(type->getContext(), value);
}

// A call that adds the product of two matrices of 16-bit elements to a matrix of floats.
struct Product {
  CallInst* call;
  llvm::Type* type = nullptr;                      // of a and b
  Pair a, b;                                       // of this type
  llvm::SmallVector<Instruction*, 1> elements[2];  // of the result

  Value* sum(unsigned i) const { return call->getArgOperand(4 + i); }
  bool has_factor(const Product& other) const { return type == other.type && b == other.b; }
};

// False if there is another use of the result.
bool find_elements(Product& product) {
  return llvm::all_of(product.call->users(), [&](llvm::User* user) {
    auto* element = llvm::dyn_cast<llvm::ExtractValueInst>(user);
    if (element) product.elements[element->getIndices()[0]].push_back(element);
    return element != nullptr;
  });
}

std::optional<Product> find_product(Instruction& instruction) {
  if (!compiler::is_matrix_product(instruction)) return std::nullopt;
  auto* call = checked_cast<CallInst>(&instruction);
  Product product;
  product.call = call;
  for (unsigned i = 0; i < 4 && !product.type; ++i)
    product.type = narrow_type(call->getArgOperand(i));
  if (!product.type) return std::nullopt;
  const auto factor = [&](unsigned i) {
    return Pair{narrow(call->getArgOperand(i), product.type),
                narrow(call->getArgOperand(i + 1), product.type)};
  };
  product.a = factor(0);
  product.b = factor(2);
  const bool narrow = product.a.first && product.a.second && product.b.first && product.b.second;
  return narrow && find_elements(product) ? std::optional(product) : std::nullopt;
}

bool is_pure(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !instruction.mayReadFromMemory() && !instruction.mayHaveSideEffects() &&
         !llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator() &&
         !(call && call->isConvergent());
}

// Moves computations up to where their operands become known, so that the factors of products stand
// in front of all that uses the products.
void compute_early(llvm::BasicBlock& block) {
  llvm::DenseMap<const Value*, unsigned> places;  // 0: the start of the block
  std::vector<std::pair<unsigned, Instruction*>> order;
  for (Instruction& instruction : llvm::make_range(block.getFirstNonPHIIt(), block.end())) {
    auto place = static_cast<unsigned>(order.size() + 1);
    if (is_pure(instruction)) {
      place = 0;
      for (const Value* operand : instruction.operands())
        place = std::max(place, places.lookup(operand));
    }
    places[&instruction] = place;
    order.emplace_back(place, &instruction);
  }
  llvm::stable_sort(order, llvm::less_first());
  for (const auto& [_, instruction] : order) instruction->moveBefore(block, block.end());
}

// Products that one instruction computes. It multiplies one or two A, each in a row of its own, by
// the same B. Each row has one or two products, of which the second one adds to the first one's
// result.
using Row = llvm::SmallVector<const Product*, 2>;

struct Group {
  llvm::SmallVector<Row, 2> rows;
  Instruction* next = nullptr;  // the first instruction in front of which all operands are known
};

// Groups the products of a block.
class ProductGroups {
 public:
  explicit ProductGroups(llvm::BasicBlock& block) {
    for (Instruction& instruction : block) {
      positions_[&instruction] = static_cast<unsigned>(instructions_.size());
      instructions_.push_back(&instruction);
      if (auto product = find_product(instruction)) products_.push_back(std::move(*product));
    }
    for (unsigned i = 0; i < products_.size(); ++i) {
      numbers_[products_[i].call] = i;
      for (const auto& elements : products_[i].elements)
        for (const Instruction* element : elements) numbers_[element] = i;
    }
    places_.resize(products_.size());
    for (unsigned i = 0; i < products_.size(); ++i)
      if (!places_[i]) groups_.push_back(group_of(i));
    llvm::stable_sort(groups_, [&](const Group& x, const Group& y) {
      return positions_.lookup(x.next) < positions_.lookup(y.next);
    });
  }

  llvm::ArrayRef<Product> products() const { return products_; }
  // In the order in which their operands become known.
  llvm::ArrayRef<Group> groups() const { return groups_; }

 private:
  using Found = std::optional<unsigned>;

  // Takes a product, if possible with another one for the same B, and with those that add to both.
  Group group_of(unsigned first) {
    const Found next = next_of(first);
    for (unsigned other = first + 1; other < products_.size(); ++other) {
      if (places_[other] || !products_[other].has_factor(products_[first])) continue;
      const Found below = next && other != *next ? next_of(other) : Found();
      if (below && *below != *next && products_[*below].has_factor(products_[*next])) {
        if (auto group = make_group({{first, *next}, {other, *below}})) return *group;
      }
      if (auto group = make_group({{first}, {other}})) return *group;
    }
    if (next) return *make_group({{first, *next}});
    return *make_group({{first}});
  }

  // Nothing if a result of the group would be used before its instruction. The results between the
  // products of a row have no other use (next_of).
  std::optional<Group> make_group(std::initializer_list<std::initializer_list<unsigned>> rows) {
    Group group;
    for (const auto& row : rows) {
      group.rows.emplace_back();
      for (const unsigned i : row) group.rows.back().push_back(&products_[i]);
    }
    const unsigned next = next_after_operands(group);
    const auto place = [&](Found found) {
      for (const auto& row : rows)
        for (const unsigned i : row) places_[i] = found;
    };
    place(next);  // so that a use by another product of the group counts, too
    for (const Row& row : group.rows) {
      if (!is_used_before(next, *row.back())) continue;
      place(std::nullopt);
      return std::nullopt;
    }
    group.next = instructions_[next];
    return group;
  }

  // The only user of a product's result, if that is a product that adds to it.
  Found next_of(unsigned i) const {
    for (unsigned next = i + 1; next < products_.size(); ++next) {
      const auto adds = [&](unsigned x) {
        const auto& elements = products_[i].elements[x];
        return elements.size() == 1 && products_[next].sum(x) == elements[0] &&
               elements[0]->hasOneUse();
      };
      if (places_[next] || products_[next].type != products_[i].type) continue;
      if (adds(0) && adds(1)) return next;
    }
    return std::nullopt;
  }

  bool is_used_before(unsigned next, const Product& product) const {
    return llvm::any_of(product.elements, [&](const auto& elements) {
      return llvm::any_of(elements, [&](const Instruction* element) {
        return llvm::any_of(element->users(), [&](const llvm::User* user) {
          return is_before(*checked_cast<Instruction>(user), next);
        });
      });
    });
  }

  bool is_before(const Instruction& user, unsigned next) const {
    // Of two groups at one place, the one that was made first comes first.
    if (const Found place = place_of(&user)) return *place <= next;
    const auto found = positions_.find(&user);
    return found != positions_.end() && !llvm::isa<llvm::PHINode>(user) && found->second < next;
  }

  // Where the group of a product is, from its call or from an element of its result. Nothing for
  // other values, and before the product has a group.
  Found place_of(const Value* value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? std::nullopt : places_[found->second];
  }

  unsigned next_after_operands(const Group& group) const {
    const Instruction& first = *instructions_.front()->getParent()->getFirstInsertionPt();
    unsigned next = positions_.lookup(&first);
    const auto wait_for = [&](const Value* operand) {
      const auto found = positions_.find(llvm::dyn_cast<Instruction>(operand));
      if (found != positions_.end()) next = std::max(next, found->second + 1);
    };
    for (const Row& row : group.rows) {
      for (const Product* product : row)
        for (const Pair& factor : {product->a, product->b})
          for (const Value* element : {factor.first, factor.second}) wait_for(element);
      for (unsigned i = 0; i < 2; ++i) {
        wait_for(row.front()->sum(i));
        next = std::max(next, place_of(row.front()->sum(i)).value_or(0));
      }
    }
    return next;
  }

  std::vector<Instruction*> instructions_;
  llvm::DenseMap<const Instruction*, unsigned> positions_;
  std::vector<Product> products_;
  llvm::DenseMap<const Value*, unsigned> numbers_;  // of products, by call and by element
  std::vector<Found> places_;                       // in front of which instruction its group is
  std::vector<Group> groups_;
};

// Emits the instructions for the groups of a block.
class MatrixInstructions {
 public:
  void emit(const Group& group) {
    b_.SetInsertPoint(group.next);
    const Row& top = group.rows.front();
    const Row& bottom = group.rows.back();
    const bool two_rows = group.rows.size() == 2;
    llvm::SmallVector<Value*> operands;
    for (unsigned i = 0; i < top.size(); ++i) {
      operands.push_back(packed(top[i]->a));
      operands.push_back(two_rows ? packed(bottom[i]->a) : operands.back());
    }
    for (const Product* product : top) operands.push_back(transposed(product->b));
    for (unsigned i = 0; i < 2; ++i) operands.push_back(top[0]->sum(i));
    for (unsigned i = 0; i < 2; ++i)
      operands.push_back(two_rows ? bottom[0]->sum(i) : below(top[0]->sum(i)));
    CallInst* sums = b_.CreateIntrinsic(instruction(top), {}, operands);
    sums->setConvergent();  // which LLVM does not know
    for (unsigned row = 0; row < group.rows.size(); ++row) {
      for (unsigned i = 0; i < 2; ++i) {
        for (Instruction* element : group.rows[row].back()->elements[i]) {
          Value* sum = b_.CreateExtractValue(sums, 2 * row + i);
          element->replaceAllUsesWith(sum);
          if (!two_rows) below_[sum] = b_.CreateExtractValue(sums, 2 + i);
        }
      }
    }
  }

  explicit MatrixInstructions(llvm::LLVMContext& context) : b_(context) {}

 private:
  static Intrinsic::ID instruction(const Row& row) {
    const bool deep = row.size() == 2;
    if (row[0]->type->isHalfTy()) {
      return deep ? Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                  : Intrinsic::nvvm_mma_m16n8k8_row_col_f32_f32;
    }
    return deep ? Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                : Intrinsic::nvvm_mma_m16n8k8_row_col_bf16;
  }

  // What an instruction with a single row adds to in the other one, whose results nobody uses:
  // those of the instruction before, as they are in the next registers already.
  Value* below(Value* sum) const {
    Value* other = below_.lookup(sum);
    return other ? other : llvm::Constant::getNullValue(sum->getType());
  }

  // A lane's elements in one register, which has the type that the instructions for these elements
  // have.
  Value* packed(const Pair& pair) {
    llvm::Type* half = b_.getInt16Ty();
    Value* both = llvm::PoisonValue::get(llvm::FixedVectorType::get(half, 2));
    both = b_.CreateInsertElement(both, b_.CreateBitCast(pair.first, half), uint64_t{0});
    both = b_.CreateInsertElement(both, b_.CreateBitCast(pair.second, half), uint64_t{1});
    llvm::Type* type = pair.first->getType();
    llvm::Type* word = b_.getInt32Ty();
    if (type->isHalfTy()) word = llvm::FixedVectorType::get(type, 2);
    return b_.CreateBitCast(both, word);
  }

  // The instructions take B by columns.
  Value* transposed(const Pair& pair) {
    Value*& known = transposed_[pair];
    if (known) return known;
    Value* rows = packed(pair);
    Value* columns = create_matrix_transposition(b_, b_.CreateBitCast(rows, b_.getInt32Ty()));
    return known = b_.CreateBitCast(columns, rows->getType());
  }

  llvm::IRBuilder<> b_;
  llvm::DenseMap<Pair, Value*> transposed_;
  llvm::DenseMap<const Value*, Value*> below_;  // by the result of the single row
};

}  // namespace

void lower_matrix_products(llvm::Function& kernel) {
  if (!LaneOrder::get(*kernel.getParent()).is_for_matrices()) return;
  const compiler::Convergence convergence = find_convergence(kernel);
  for (llvm::BasicBlock& block : kernel) {
    if (!convergence.is_convergent(block) || llvm::none_of(block, compiler::is_matrix_product))
      continue;
    compute_early(block);
    const ProductGroups groups(block);
    MatrixInstructions instructions(kernel.getContext());
    for (const Group& group : groups.groups()) instructions.emit(group);
    for (const Product& product : llvm::reverse(groups.products())) {
      for (const auto& elements : product.elements)
        for (Instruction* element : elements) element->eraseFromParent();
      product.call->eraseFromParent();
    }
  }
}

}  // namespace metal::cuda
