// SmallVector, beside std::vector.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mlx/array.h"
#include "mlx/ops.h"
#include "mlx/small_vector.h"

namespace mlx::core::test {
namespace {

template <typename T>
T element(int i);
template <>
int element<int>(int i) {
  return i;
}
template <>
std::string element<std::string>(int i) {
  return std::string(static_cast<size_t>(i % 40), 'x') + std::to_string(i);
}

// Does the same to both, at random places and with random counts.
template <typename T>
class Both {
 public:
  explicit Both(unsigned seed) : random_(seed) {}

  void step() {
    switch (upto(19)) {
      case 0:
        small_.push_back(next()), plain_.push_back(last());
        break;
      case 1:
        small_.emplace_back(next()), plain_.emplace_back(last());
        break;
      case 2:
        if (!plain_.empty()) small_.pop_back(), plain_.pop_back();
        break;
      case 3:
        insert([&](auto& v, auto at) { return v.insert(at, last()); });
        break;
      case 4:
        insert([&, n = upto(5)](auto& v, auto at) { return v.insert(at, n, last()); });
        break;
      case 5:
        insert([&](auto& v, auto at) { return v.insert(at, {last(), T(), last()}); });
        break;
      case 6:
        insert([&](auto& v, auto at) { return v.insert(at, other_.begin(), other_.end()); });
        break;
      case 7:
        erase(upto(static_cast<int>(plain_.size())));
        break;
      case 8:
        resize(upto(14));
        break;
      case 9:
        small_.assign(upto(12), next()), plain_.assign(small_.size(), last());
        break;
      case 10:
        small_.assign(other_.begin(), other_.end()), plain_.assign(other_.begin(), other_.end());
        break;
      case 11:
        small_ = other_, plain_ = other_;
        break;
      case 12:
        other_ = small_;
        break;
      case 13:
        small_ = {next(), T()}, plain_ = {last(), T()};
        break;
      case 14:
        move_around();
        break;
      case 15:
        insert_own();
        break;
      case 16:
        small_.reserve(upto(20)), small_.shrink_to_fit();
        break;
      case 17:
        small_.swap(spare_), plain_.swap(plain_spare_);
        break;
      case 18:
        if (upto(4) == 0) small_.clear(), plain_.clear();
        break;
    }
  }

  void check() const {
    ASSERT_EQ(small_.size(), plain_.size());
    ASSERT_EQ(small_.empty(), plain_.empty());
    ASSERT_GE(small_.capacity(), small_.size());
    ASSERT_TRUE(std::equal(small_.begin(), small_.end(), plain_.begin(), plain_.end()));
    ASSERT_TRUE(std::equal(small_.rbegin(), small_.rend(), plain_.rbegin(), plain_.rend()));
    ASSERT_EQ(small_, plain_);
    ASSERT_EQ(small_ <=> SmallVector<T>(other_), plain_ <=> other_);
    for (size_t i = 0; i < plain_.size(); ++i) {
      ASSERT_EQ(small_[i], plain_[i]);
      ASSERT_EQ(small_.at(i), plain_.at(i));
      ASSERT_EQ(small_.data() + i, &small_[i]);
    }
    EXPECT_THROW(small_.at(plain_.size()), std::out_of_range);
    if (!plain_.empty()) {
      ASSERT_EQ(small_.front(), plain_.front());
      ASSERT_EQ(small_.back(), plain_.back());
    }
  }

 private:
  int upto(int end) {
    return end > 0 ? static_cast<int>(random_() % static_cast<unsigned>(end)) : 0;
  }
  T next() { return last_ = element<T>(upto(1000)); }
  const T& last() const { return last_; }

  template <typename Insert>
  void insert(const Insert& insert) {
    next();
    const int at = upto(static_cast<int>(plain_.size()) + 1);
    auto in_small = insert(small_, small_.begin() + at);
    auto in_plain = insert(plain_, plain_.begin() + at);
    ASSERT_EQ(in_small - small_.begin(), in_plain - plain_.begin());
  }

  // An element of the vector itself is the argument.
  void insert_own() {
    if (plain_.empty()) return;
    const int from = upto(static_cast<int>(plain_.size()));
    const int at = upto(static_cast<int>(plain_.size()) + 1);
    small_.insert(small_.begin() + at, 2, small_[from]);
    plain_.insert(plain_.begin() + at, 2, plain_[from]);
    small_.insert(small_.begin() + at, small_[from]);
    plain_.insert(plain_.begin() + at, plain_[from]);
    small_.push_back(small_[from]);
    plain_.push_back(plain_[from]);
    small_.resize(small_.size() + 2, small_[from]);
    plain_.resize(plain_.size() + 2, plain_[from]);
  }

  void erase(int first) {
    if (plain_.empty()) return;
    const int count = upto(static_cast<int>(plain_.size()) - first + 1);
    auto in_small = small_.erase(small_.begin() + first, small_.begin() + first + count);
    auto in_plain = plain_.erase(plain_.begin() + first, plain_.begin() + first + count);
    ASSERT_EQ(in_small - small_.begin(), in_plain - plain_.begin());
    if (in_plain != plain_.end()) small_.erase(in_small), plain_.erase(in_plain);
  }

  void resize(int count) {
    if (upto(2)) {
      small_.resize(count), plain_.resize(count);
    } else {
      small_.resize(count, next()), plain_.resize(count, last());
    }
  }

  void move_around() {
    SmallVector<T> moved(std::move(small_));
    ASSERT_EQ(moved, plain_);
    SmallVector<T> copy(moved);
    SmallVector<T> short_one(size_t{3}, next());
    short_one = std::move(moved);
    small_ = std::move(short_one);
    ASSERT_EQ(small_, copy);
  }

  std::mt19937 random_;
  T last_{};
  SmallVector<T> small_, spare_;
  std::vector<T> plain_, plain_spare_;
  std::vector<T> other_;
};

template <typename T>
void compare() {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Both<T> both(seed);
    for (int i = 0; i < 400; ++i) {
      both.step();
      both.check();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace

TEST(SmallVector, DoesWhatVectorDoes) { compare<int>(); }

TEST(SmallVector, DoesWhatVectorDoesWithElementsThatOwnMemory) { compare<std::string>(); }

TEST(SmallVector, HoldsItsFirstElementsInItself) {
  auto inside = [](const auto& v) {
    auto* data = reinterpret_cast<const char*>(v.data());
    auto* self = reinterpret_cast<const char*>(&v);
    return data >= self && data < self + sizeof v;
  };
  Shape shape(kDefaultSmallVectorSize, 2);
  EXPECT_TRUE(inside(shape));
  EXPECT_TRUE(inside(Shape(shape)));
  shape.push_back(3);
  EXPECT_FALSE(inside(shape));
  shape.pop_back();
  shape.shrink_to_fit();
  EXPECT_TRUE(inside(shape));
}

TEST(SmallVector, DestroysItsElements) {
  auto counted = std::make_shared<int>();
  {
    SmallVector<std::shared_ptr<int>, 2> small(5, counted);
    EXPECT_EQ(counted.use_count(), 6);
    small.erase(small.begin() + 1, small.begin() + 3);
    EXPECT_EQ(counted.use_count(), 4);
    SmallVector<std::shared_ptr<int>, 2> other(1, counted);
    other = std::move(small);
    EXPECT_EQ(counted.use_count(), 4);
    other.resize(1);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(SmallVector, ReadsFromAStream) {
  std::istringstream text("1 2 3 4 5 6 7 8 9 10");
  SmallVector<int> read{std::istream_iterator<int>(text), std::istream_iterator<int>()};
  EXPECT_EQ(read, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(SmallVector, RefusesLengthsThatDoNotFit) {
  SmallVector<int> small{1};
  EXPECT_THROW(small.resize(SmallVector<int>::max_size() + 1), std::length_error);
  EXPECT_THROW(small.insert(small.begin(), SmallVector<int>::max_size(), 1), std::length_error);
  EXPECT_EQ(small, (SmallVector<int>{1}));
}

// Sources written for MLX's earlier versions, in which a shape is a std::vector.
TEST(SmallVector, ConvertsFromAndToVector) {
  const std::vector<int> plain = {2, 3};
  array a = zeros(plain);
  EXPECT_EQ(a.shape(), plain);
  EXPECT_EQ(plain, a.shape());
  std::vector<int> copy = a.shape();
  copy.push_back(1);
  EXPECT_EQ(reshape(a, copy).shape(), copy);
  copy = a.shape();
  EXPECT_EQ(copy, plain);
  Shape shape = a.shape();
  shape = plain;
  shape = {4, 5};
  auto product = [](const std::vector<int>& v) { return v.at(0) * v.at(1); };
  EXPECT_EQ(product(shape), 20);
  const std::vector<int64_t> strides = a.strides();
  EXPECT_EQ(as_strided(a, plain, strides, 0).strides(), strides);
}

}  // namespace mlx::core::test
