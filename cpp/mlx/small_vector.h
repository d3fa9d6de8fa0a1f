// SmallVector: a vector that holds its first elements in itself. Shapes and strides are such
// vectors, so that an array of a usual rank needs no memory for them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace mlx::core {

inline constexpr size_t kDefaultSmallVectorSize = 8;

// It has std::vector's interface and converts from and to std::vector, which shapes were in earlier
// versions of MLX. As there, references and iterators are invalid after the vector grows; unlike
// there, also after it is moved.
template <typename T, size_t N = kDefaultSmallVectorSize>
class SmallVector {
  static_assert(N > 0);
  static_assert(std::is_nothrow_move_constructible_v<T>);  // so that growing loses nothing

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SmallVector() noexcept : data_(inline_data()) {}
  explicit SmallVector(size_t count) : SmallVector() { resize(count); }
  SmallVector(size_t count, const T& value) : SmallVector() { resize(count, value); }
  template <std::input_iterator It>
  SmallVector(It first, It last) : SmallVector() {
    append(first, last);
  }
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  SmallVector(const std::vector<T>& values) : SmallVector(values.begin(), values.end()) {}
  SmallVector(const SmallVector& other) : SmallVector(other.begin(), other.end()) {}
  SmallVector(SmallVector&& other) noexcept : SmallVector() { take(other); }
  ~SmallVector() {
    std::destroy(begin(), end());
    free_memory();
  }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> values) {
    assign(values);
    return *this;
  }

  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }

  void assign(size_t count, const T& value) { *this = SmallVector(count, value); }
  template <std::input_iterator It>
  void assign(It first, It last) {
    // The range may be a part of this vector.
    *this = SmallVector(first, last);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const noexcept { return rbegin(); }
  const_reverse_iterator crend() const noexcept { return rend(); }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_t capacity() const noexcept { return capacity_; }
  static constexpr size_t max_size() noexcept {
    return std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& at(size_t i) { return data_[checked(i)]; }
  const T& at(size_t i) const { return data_[checked(i)]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity > max_size()) throw std::length_error("[SmallVector] It is too long.");
    if (capacity > capacity_) move_to_memory(capacity);
  }
  void shrink_to_fit() {
    if (is_inline() || size_ == capacity_) return;
    SmallVector(std::make_move_iterator(begin()), std::make_move_iterator(end())).swap(*this);
  }

  void clear() noexcept {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void resize(size_t count) {
    if (count > size_) {
      reserve(count);
      std::uninitialized_value_construct(end(), data_ + count);
      size_ = count;
    } else {
      erase(begin() + count, end());
    }
  }
  void resize(size_t count, const T& value) {
    if (count > size_) {
      insert(end(), count - size_, value);
    } else {
      erase(begin() + count, end());
    }
  }

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      // The arguments may be elements of this vector.
      T value(std::forward<Args>(args)...);
      grow(1);
      return construct_at_end(std::move(value));
    }
    return construct_at_end(std::forward<Args>(args)...);
  }
  void pop_back() { std::destroy_at(data_ + --size_); }

  // New elements are made at the end, and then rotated to their place.
  template <typename... Args>
  iterator emplace(const_iterator position, Args&&... args) {
    const size_t at = position - begin();
    const size_t old = size_;
    emplace_back(std::forward<Args>(args)...);
    return rotate_tail(at, old);
  }
  iterator insert(const_iterator position, const T& value) { return emplace(position, value); }
  iterator insert(const_iterator position, T&& value) {
    return emplace(position, std::move(value));
  }
  iterator insert(const_iterator position, size_t count, const T& value) {
    const size_t at = position - begin();
    const size_t old = size_;
    const T copy(value);
    grow(count);
    std::uninitialized_fill_n(end(), count, copy);
    size_ += count;
    return rotate_tail(at, old);
  }
  template <std::input_iterator It>
  iterator insert(const_iterator position, It first, It last) {
    const size_t at = position - begin();
    const size_t old = size_;
    append(first, last);
    return rotate_tail(at, old);
  }
  iterator insert(const_iterator position, std::initializer_list<T> values) {
    return insert(position, values.begin(), values.end());
  }

  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    iterator to = begin() + (first - begin());
    if (first != last) {
      iterator new_end = std::move(begin() + (last - begin()), end(), to);
      std::destroy(new_end, end());
      size_ = new_end - begin();
    }
    return to;
  }

  void swap(SmallVector& other) { std::swap(*this, other); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const SmallVector& a, const SmallVector& b)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() noexcept { return reinterpret_cast<T*>(inline_); }
  bool is_inline() const noexcept { return data_ == reinterpret_cast<const T*>(inline_); }

  size_t checked(size_t i) const {
    if (i >= size_) throw std::out_of_range("[SmallVector] The index is out of range.");
    return i;
  }

  template <typename... Args>
  T& construct_at_end(Args&&... args) {
    T* made = std::construct_at(data_ + size_, std::forward<Args>(args)...);
    ++size_;
    return *made;
  }

  template <typename It>
  void append(It first, It last) {
    if constexpr (std::forward_iterator<It>) {
      const size_t count = std::distance(first, last);
      grow(count);
      std::uninitialized_copy(first, last, end());
      size_ += count;
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }

  // Makes room for more elements, twice as much as now if there is too little.
  void grow(size_t count) {
    if (count <= capacity_ - size_) return;
    if (count > max_size() - size_) throw std::length_error("[SmallVector] It is too long.");
    move_to_memory(std::max(size_ + count, 2 * capacity_));
  }

  void move_to_memory(size_t capacity) {
    T* memory = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), memory);
    std::destroy(begin(), end());
    free_memory();
    data_ = memory;
    capacity_ = capacity;
  }

  void free_memory() noexcept {
    if (!is_inline()) std::allocator<T>().deallocate(data_, capacity_);
  }

  // Takes the elements of the other vector, which is empty then. This one is empty before.
  void take(SmallVector& other) {
    if (other.is_inline()) {
      std::uninitialized_move(other.begin(), other.end(), data_);
      size_ = other.size_;
      other.clear();
      return;
    }
    free_memory();
    data_ = std::exchange(other.data_, other.inline_data());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }

  // Moves the elements from `middle` on in front of the one at `at`.
  iterator rotate_tail(size_t at, size_t middle) {
    std::rotate(begin() + at, begin() + middle, end());
    return begin() + at;
  }

  T* data_;
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

template <typename It>
SmallVector(It, It) -> SmallVector<typename std::iterator_traits<It>::value_type>;

}  // namespace mlx::core
