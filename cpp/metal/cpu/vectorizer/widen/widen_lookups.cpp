#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/KnownBits.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

namespace {

// The size of a table of the program, or of a thread's variable; otherwise 0.
uint64_t bytes_of(const Value* memory, const llvm::DataLayout& layout) {
  if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(memory)) {
    const auto size = variable->getAllocationSize(layout);
    return size ? size->getFixedValue() : 0;
  }
  const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(memory);
  return table && table->isConstant() ? layout.getTypeAllocSize(table->getValueType()) : 0;
}

// Whether `count` bytes behind the pointer are part of such memory.
bool has_in_table(Value* pointer, uint64_t count, const llvm::DataLayout& layout) {
  const auto [base, offset] = split_constant(pointer, layout);
  return offset >= 0 && static_cast<uint64_t>(offset) + count <= bytes_of(base, layout);
}

}  // namespace

uint64_t count_of_indices(const Value& index, const llvm::DataLayout& layout) {
  const llvm::APInt by_bits = llvm::computeKnownBits(&index, layout).getMaxValue();
  if (by_bits.ugt(INT32_MAX)) return 0;
  // The operand of an extension to an integer that is not negative is not negative, either.
  const Value* number = &index;
  while (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(number))
    number = checked_cast<llvm::CastInst>(number)->getOperand(0);
  const llvm::APInt by_range =
      llvm::computeConstantRange(number, /*ForSigned=*/false).getUnsignedMax();
  return std::min(by_bits.getZExtValue(), by_range.getLimitedValue()) + 1;
}

// How many elements an index of one counts, or 0 if indices may lie within elements.
uint64_t MemoryWidener::elements_of_step(const Access& access,
                                         const IndexedAddress& address) const {
  const uint64_t bytes = address.step * address.scale;
  return fits_in_word(access) && bytes % access.size == 0 ? bytes / access.size : 0;
}

// Counts elements in 32 bits. The numbers of indices that lanes need not have may be wrong.
Value* MemoryWidener::count_elements(const IndexedAddress& address, uint64_t each, Value* indices) {
  llvm::Type* type = indices->getType();
  Value* steps = b_.CreateUDiv(indices, llvm::ConstantInt::get(type, address.step));
  return b_.CreateZExtOrTrunc(b_.CreateMul(steps, llvm::ConstantInt::get(type, each)),
                              w_.wide_type(b_.getInt32Ty()));
}

// Registers with the elements at the address, as i32.
MemoryWidener::Vectors MemoryWidener::read_tables(const Access& access, Value* first,
                                                  uint64_t count) {
  const unsigned lanes = tables_.lanes();
  llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(access.size) * 8);
  Value* all = b_.CreateAlignedLoad(llvm::FixedVectorType::get(bits, static_cast<unsigned>(count)),
                                    first, access.align);
  all =
      b_.CreateZExt(all, llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(count)));
  Vectors tables;
  for (unsigned start = 0; start < count || !llvm::isPowerOf2_64(tables.size()); start += lanes) {
    llvm::SmallVector<int> entries;
    for (unsigned i = start; i < start + lanes; ++i)
      entries.push_back(i < count ? static_cast<int>(i) : llvm::PoisonMaskElem);
    tables.push_back(b_.CreateFreeze(b_.CreateShuffleVector(all, entries)));
  }
  return tables;
}

// The elements at the indices: those of each part of the gang in the tables of the part.
Value* MemoryWidener::find_in_tables(const Access& access, llvm::ArrayRef<Vectors> tables,
                                     Value* indices) {
  const unsigned lanes = tables_.lanes();
  Vectors parts;
  for (unsigned start = 0; start < w_.width(); start += lanes) {
    Value* part = extract_subvector(b_, indices, start, lanes);
    parts.push_back(tables_.find(b_, tables[tables.size() == 1 ? 0 : start / lanes], part));
  }
  return elements_of_words(access, llvm::concatenateVectors(b_, parts));
}

// Elements of a small table, which is read as a whole: it is a table of the program, a variable, or
// memory whose margins are as large. Null if it is not small, or there is no such shuffle.
Value* MemoryWidener::load_from_table(const Access& access, Value* pointer,
                                      const IndexedAddress& address) {
  const uint64_t each = elements_of_step(access, address);
  const unsigned lanes = tables_.lanes();
  if (lanes == 0 || w_.width() % lanes != 0 || each == 0 || address.count == 0) return nullptr;
  uint64_t count = (address.count - 1) / address.step * each + 1;
  if (count > tables_.most_entries()) return nullptr;
  if (!has_in_table(address.root, count * access.size, w_.layout())) {
    count = llvm::alignTo(count, lanes);
    if (!has_margins(pointer, {0, static_cast<int64_t>(count * access.size)})) return nullptr;
  }
  return find_in_tables(access, read_tables(access, address.root, count),
                        count_elements(address, each, address.index));
}

// Whether lanes compute the address from their positions alone, by way of coordinates that need not
// be whole. What each lane has read may be anything.
bool MemoryWidener::comes_from_coordinates(const Value* pointer) const {
  constexpr size_t kMostInstructions = 64;
  llvm::SmallVector<const Value*> open{pointer};
  llvm::SmallPtrSet<const Value*, 16> seen;
  bool has_coordinates = false;
  while (!open.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(open.pop_back_val());
    if (!instruction || w_.shape(instruction).is_uniform() || !seen.insert(instruction).second)
      continue;
    if (seen.size() > kMostInstructions || llvm::isa<llvm::PHINode>(instruction) ||
        instruction->mayReadOrWriteMemory())
      return false;
    has_coordinates |= instruction->getType()->isFloatingPointTy();
    open.append(instruction->op_begin(), instruction->op_end());
  }
  return has_coordinates;
}

bool MemoryWidener::may_be_close(const Access& access, Value* pointer,
                                 const IndexedAddress& address) const {
  const unsigned lanes = tables_.lanes();
  const int64_t window = int64_t{2} * lanes * static_cast<int64_t>(access.size);
  return lanes != 0 && w_.width() % lanes == 0 && address.step == 1 &&
         elements_of_step(access, address) == 1 && has_margins(pointer, {0, window}) &&
         comes_from_coordinates(pointer);
}

// Tests at run time whether the elements of each part of the gang are in two registers, from the
// element of the part's first or last lane on. An inactive lane may have any index. What all lanes
// add to their indices does not matter for the test, so loads from several rows share it.
Value* MemoryWidener::load_close(const Access& access, const IndexedAddress& address,
                                 llvm::function_ref<Value*()> otherwise) {
  const unsigned lanes = tables_.lanes();
  const unsigned entries = 2 * lanes;
  Value* own = address.own ? w_.frozen(address.own) : address.index;
  llvm::Type* type = own->getType()->getScalarType();
  Value* in_range = b_.getTrue();
  Vectors starts, spread;
  for (unsigned lane = 0; lane < w_.width(); lane += lanes) {
    Value* start = b_.CreateBinaryIntrinsic(
        address.is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
        b_.CreateExtractElement(own, lane), b_.CreateExtractElement(own, lane + lanes - 1));
    spread.push_back(b_.CreateVectorSplat(lanes, start));
    if (address.own) start = b_.CreateAdd(start, address.shared);
    starts.push_back(start);
    if (!type->isIntegerTy(32)) continue;
    // Indices of 32 bits may wrap around before the last element.
    Value* last = b_.getInt32(static_cast<uint32_t>((address.is_signed ? INT32_MAX : UINT32_MAX) -
                                                    static_cast<uint32_t>(entries)));
    in_range = b_.CreateAnd(in_range, address.is_signed ? b_.CreateICmpSLE(start, last)
                                                        : b_.CreateICmpULE(start, last));
  }
  Value* distance = b_.CreateSub(own, llvm::concatenateVectors(b_, spread));
  Value* fits = b_.CreateICmpULT(distance, w_.splat(llvm::ConstantInt::get(type, entries)));
  if (w_.mask()) fits = b_.CreateOr(fits, b_.CreateNot(w_.mask()));
  return w_.either(
      b_.CreateAnd(w_.all(fits), in_range),
      [&] {
        llvm::SmallVector<Vectors> tables;
        for (Value* start : starts)
          tables.push_back(read_tables(access, address_at(address, start), entries));
        return find_in_tables(access, tables, count_elements(address, 1, distance));
      },
      otherwise);
}

}  // namespace metal::cpu
