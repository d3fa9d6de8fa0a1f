// The state that the parts of widening share: for each value of the body, the value that replaces
// it.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// A value in all lanes. Uniform values and those with offsets are kept as lane 0's value. The
// vector is made when it is needed.
struct LaneValue {
  Shape shape = Shape::undefined();
  llvm::Value* first = nullptr;   // lane 0's, unless the shape is varying
  llvm::Value* stride = nullptr;  // from lane to lane, if known at run time only
  llvm::Value* vector = nullptr;
  llvm::Value* holds = nullptr;  // i1: whether the offsets hold; null if that is certain
};

// What is known of a vector of bits without looking at all lanes.
struct LaneBits {
  // The lanes that are set are the first ones of the gang, the last ones, or all or none.
  enum class Order { Unknown, First, Last, Uniform };

  // i1: whether all lanes are set. If `any` is null, it may also be false if all are.
  llvm::Value* all = nullptr;
  llvm::Value* any = nullptr;  // whether a lane is set; null if only the vector tells
  Order order = Order::Unknown;
};

// An address that differs between lanes only in one index.
struct IndexedAddress {
  llvm::Value* root = nullptr;   // scalar pointer
  llvm::Value* index = nullptr;  // vector of i32 or i64
  bool is_signed = true;         // whether an i32 index is sign-extended
  uint64_t scale = 1;            // bytes
  uint64_t step = 1;             // all indices are multiples of it
  uint64_t count = 0;            // all indices of active lanes are less; 0 if that is not known
  // If not null, an index is the sum of the lane's own part and of what all lanes add.
  llvm::Value* own = nullptr;
  llvm::Value* shared = nullptr;
};

class Widener {
 public:
  Widener(llvm::Function& wide, const ShapeAnalysis& shapes,
          const llvm::TargetTransformInfo& costs);

  unsigned width() const { return shapes_.width(); }
  llvm::IRBuilder<>& builder() { return builder_; }
  llvm::Function& function() { return wide_; }
  const llvm::TargetTransformInfo& costs() const { return costs_; }
  const llvm::DataLayout& layout() const { return wide_.getParent()->getDataLayout(); }

  Shape shape(const llvm::Value* value) const { return shapes_.shape(value); }
  const LaneValue& lanes(llvm::Value* value);
  llvm::Value* first(llvm::Value* value);  // lane 0's
  llvm::Value* vector(llvm::Value* value);
  llvm::Value* stride(llvm::Value* value);  // of a value that has one, constant or not
  void set_first(llvm::Value* value, llvm::Value* first);
  // `stride` must dominate the uses of `first`.
  void set_strided(llvm::Value* value, llvm::Value* first, llvm::Value* stride);
  void set_vector(llvm::Value* value, llvm::Value* vector);
  void set_holds(llvm::Value* value, llvm::Value* holds) { values_[value].holds = holds; }
  void set_address(llvm::Value* pointer, const IndexedAddress& address) {
    addresses_[pointer] = address;
  }
  bool has_vector(llvm::Value* value) const { return values_.lookup(value).vector != nullptr; }
  bool has_address(llvm::Value* pointer) const { return addresses_.contains(pointer); }
  IndexedAddress address(llvm::Value* pointer);

  // The lanes that run the current block; null if all do.
  llvm::Value* mask() const { return mask_; }
  void set_mask(llvm::Value* mask) { mask_ = mask; }
  llvm::Value* mask_or_all();
  llvm::Value* mask_bits();  // an integer with a bit for each lane
  // The vector, with `other` in inactive lanes.
  llvm::Value* where_active(llvm::Value* vector, llvm::Constant* other);

  llvm::Type* wide_type(llvm::Type* scalar) const;
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Constant* offsets(const Shape& shape, llvm::Type* integer) const;
  llvm::Constant* sequence(llvm::Type* integer,
                           uint64_t stride = 1) const;  // 0, stride, 2 * stride, ...
  llvm::Value* bits_of(llvm::Value* vector_of_bits);
  llvm::Value* all(llvm::Value* vector_of_bits);
  llvm::Value* any(llvm::Value* vector_of_bits);
  // Later calls of all() and any() use what is known of the vector.
  void set_bits(llvm::Value* vector_of_bits, const LaneBits& bits) { bits_[vector_of_bits] = bits; }
  LaneBits known_bits(llvm::Value* vector_of_bits) const { return bits_.lookup(vector_of_bits); }
  // Freezes a vector before the values of all lanes are compared, as those of inactive lanes may be
  // poison.
  llvm::Value* frozen(llvm::Value* vector);
  // Whether all lanes run the current block; null if that is certain.
  llvm::Value* all_run() { return mask_ ? all(mask_) : nullptr; }
  llvm::Value* last_active(llvm::Value* vector);  // the value of the last active lane
  llvm::AllocaInst* scratch(llvm::Type* type, const llvm::Twine& name);
  // The vector in memory. It is stored where it is computed, so loops only read it.
  llvm::AllocaInst* in_memory(llvm::Value* value);
  // A function that vector code calls; `write` makes it at the first use.
  llvm::Function* helper(llvm::StringRef name, llvm::FunctionType* type,
                         llvm::function_ref<void(llvm::Function&)> write);

  // Makes speculative code bail out if the condition is false. The gang must have had no effects
  // yet. Later code may rely on the condition.
  void assume(llvm::Value* condition);
  // Builds if (condition) then() else otherwise(), and marks then() as likely. Without a condition
  // it builds only then(). otherwise() must be right whatever the condition is: functions with very
  // many branches take long to compile, so after kMostTests branches only otherwise() is built.
  void branch(llvm::Value* condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  // The same for code with a result.
  llvm::Value* either(llvm::Value* condition, llvm::function_ref<llvm::Value*()> then,
                      llvm::function_ref<llvm::Value*()> otherwise);
  // Builds a loop over the lanes in the mask. `inside` gets the lane's number as i32.
  void for_each_lane(llvm::function_ref<void(llvm::Value*)> inside);

 private:
  static constexpr unsigned kMostTests = 256;

  llvm::Value* make_vector(LaneValue& value);
  llvm::Value* lane_strides(llvm::Value* stride);
  // The addresses of all lanes, computed at the builder's position.
  llvm::Value* strided_addresses(llvm::Value* first, llvm::Value* stride);
  void move_after(llvm::Value* definition);

  llvm::Function& wide_;
  const ShapeAnalysis& shapes_;
  const llvm::TargetTransformInfo& costs_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<llvm::Value*, LaneValue> values_;
  llvm::DenseMap<llvm::Value*, IndexedAddress> addresses_;
  llvm::DenseMap<llvm::Value*, LaneBits> bits_;
  llvm::DenseMap<llvm::Value*, llvm::AllocaInst*> in_memory_;
  llvm::Value* mask_ = nullptr;
  llvm::BasicBlock* bail_out_ = nullptr;
  unsigned tests_ = 0;  // conditions of branch()
};

// Builds a loop over the bits that are set, from the lowest on. `inside` gets the number of each as
// i32.
void for_each_bit(llvm::IRBuilder<>& b, llvm::Value* bits,
                  llvm::function_ref<void(llvm::Value*)> inside);

}  // namespace metal::cpu
