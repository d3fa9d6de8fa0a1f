// Writes and reads values as bytes, for files of exported functions.
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mlx/dtype_utils.h"
#include "mlx/io/refusal.h"

namespace mlx::core::exported {

static_assert(std::endian::native == std::endian::little, "Bytes are written as memory has them.");

struct ByteWriter {
  std::string bytes;

  void write(const void* from, size_t count) {
    bytes.append(static_cast<const char*>(from), count);
  }
};

// Throws if the read goes beyond the end.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const io::Refusal& refuse) : left_(bytes), refuse_(refuse) {}

  size_t left() const { return left_.size(); }
  std::string_view take(size_t count);
  [[noreturn]] void refuse(const std::string& what) const { refuse_(what); }
  const io::Refusal& refusal() const { return refuse_; }

 private:
  std::string_view left_;
  const io::Refusal& refuse_;
};

// Codec<T>::get(reader) reads what Codec<T>::put(writer, value) has written.
template <typename T>
struct Codec;

template <typename T>
void put(ByteWriter& to, const T& value) {
  Codec<T>::put(to, value);
}
template <typename T>
T get(ByteReader& from) {
  return Codec<T>::get(from);
}

// The last value of an enumeration whose first is 0.
template <typename E>
inline constexpr int kLast = -1;
template <>
inline constexpr int kLast<Dtype::Val> = static_cast<int>(Dtype::Val::complex64);

// fields(structure) is a tuple of references to a structure's members.
template <typename T>
concept HasFields = requires(T& value) { fields(value); };

template <typename T>
  requires std::is_arithmetic_v<T>
struct Codec<T> {
  static void put(ByteWriter& to, T value) { to.write(&value, sizeof value); }
  static T get(ByteReader& from) {
    T value;
    from.take(sizeof value).copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
};

template <>
struct Codec<bool> {
  static void put(ByteWriter& to, bool value) { to.bytes.push_back(value ? 1 : 0); }
  static bool get(ByteReader& from) {
    const auto value = static_cast<unsigned char>(from.take(1)[0]);
    if (value > 1) from.refuse("A byte that should be 0 or 1 is another one.");
    return value == 1;
  }
};

template <typename E>
  requires std::is_enum_v<E>
struct Codec<E> {
  static_assert(kLast<E> >= 0, "kLast must be defined.");
  static void put(ByteWriter& to, E value) {
    to.bytes.push_back(static_cast<char>(static_cast<int>(value)));
  }
  static E get(ByteReader& from) {
    const int value = static_cast<unsigned char>(from.take(1)[0]);
    if (value > kLast<E>) from.refuse("The value of an enumeration is out of range.");
    return static_cast<E>(value);
  }
};

template <>
struct Codec<Dtype> {
  static void put(ByteWriter& to, Dtype value) { exported::put(to, value.val()); }
  static Dtype get(ByteReader& from) { return dtype_of(exported::get<Dtype::Val>(from)); }
};

template <>
struct Codec<std::string> {
  static void put(ByteWriter& to, const std::string& value) {
    exported::put(to, uint64_t{value.size()});
    to.write(value.data(), value.size());
  }
  static std::string get(ByteReader& from) {
    return std::string(from.take(exported::get<uint64_t>(from)));
  }
};

// Grows while it reads, so that a damaged count cannot allocate more than the file holds.
template <typename T>
struct Codec<std::vector<T>> {
  static void put(ByteWriter& to, const std::vector<T>& values) {
    exported::put(to, uint64_t{values.size()});
    for (const auto& value : values) exported::put(to, value);
  }
  static std::vector<T> get(ByteReader& from) {
    const auto count = exported::get<uint64_t>(from);
    std::vector<T> values;
    for (uint64_t i = 0; i < count; ++i) values.push_back(exported::get<T>(from));
    return values;
  }
};

template <typename T>
struct Codec<std::optional<T>> {
  static void put(ByteWriter& to, const std::optional<T>& value) {
    exported::put(to, value.has_value());
    if (value) exported::put(to, *value);
  }
  static std::optional<T> get(ByteReader& from) {
    if (!exported::get<bool>(from)) return std::nullopt;
    return exported::get<T>(from);
  }
};

template <typename... T>
struct Codec<std::tuple<T...>> {
  static void put(ByteWriter& to, const std::tuple<T...>& values) {
    std::apply([&](const T&... value) { (exported::put(to, value), ...); }, values);
  }
  static std::tuple<T...> get([[maybe_unused]] ByteReader& from) {
    return std::tuple<T...>{exported::get<T>(from)...};  // braces: in order
  }
};

template <typename First, typename Second>
struct Codec<std::variant<First, Second>> {
  using Variant = std::variant<First, Second>;
  static void put(ByteWriter& to, const Variant& value) {
    exported::put(to, value.index() == 1);
    std::visit([&](const auto& held) { exported::put(to, held); }, value);
  }
  static Variant get(ByteReader& from) {
    if (exported::get<bool>(from)) return exported::get<Second>(from);
    return exported::get<First>(from);
  }
};

template <HasFields T>
struct Codec<T> {
  static void put(ByteWriter& to, const T& value) {
    std::apply([&](const auto&... field) { (exported::put(to, field), ...); }, fields(value));
  }
  static T get(ByteReader& from) {
    T value;
    read_into(from, value);
    return value;
  }
  static void read_into(ByteReader& from, T& value) {
    std::apply(
        [&](auto&... field) {
          ((field = exported::get<std::remove_cvref_t<decltype(field)>>(from)), ...);
        },
        fields(value));
  }
};

}  // namespace mlx::core::exported
