// The Foundation classes that Metal's host API uses, under metal-cpp's names.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;

inline constexpr Integer IntegerMax = INTPTR_MAX;
inline constexpr UInteger UIntegerMax = UINTPTR_MAX;

enum StringEncoding : UInteger { ASCIIStringEncoding = 1, UTF8StringEncoding = 4 };

struct Range {
  Range(UInteger location, UInteger length) : location(location), length(length) {}
  static Range Make(UInteger location, UInteger length) { return {location, length}; }
  bool operator==(const Range&) const = default;
  UInteger Max() const { return location + length; }

  UInteger location;
  UInteger length;
};

class String;

// A base class with a reference count. A new object has one reference, which its creator owns.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void release() const;
  UInteger retainCount() const { return references_.load(std::memory_order_relaxed); }

 protected:
  virtual ~Object() = default;
  void retain_object() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void autorelease_object() const;  // released when the thread's innermost pool is drained

 private:
  mutable std::atomic<UInteger> references_{1};
};

// Adds retain() and autorelease() that return the static type.
template <class T, class Base = Object>
class Referencing : public Base {
 public:
  T* retain() {
    this->retain_object();
    return static_cast<T*>(this);
  }
  const T* retain() const {
    this->retain_object();
    return static_cast<const T*>(this);
  }
  T* autorelease() {
    this->autorelease_object();
    return static_cast<T*>(this);
  }
};

// Releases autoreleased objects when it is drained. Without a pool they exist as long as the
// thread.
class AutoreleasePool : public Referencing<AutoreleasePool> {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init() { return this; }
  void drain() { release(); }

 protected:
  AutoreleasePool();
  ~AutoreleasePool() override;
};

template <class T>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(std::nullptr_t) {}
  explicit SharedPtr(T* owned) : object_(owned) {}  // takes over one reference
  SharedPtr(const SharedPtr& other) : object_(other.object_) { retain(); }
  SharedPtr(SharedPtr&& other) noexcept : object_(other.detach()) {}
  template <class U>
  SharedPtr(SharedPtr<U>&& other) noexcept : object_(other.detach()) {}
  ~SharedPtr() { reset(); }

  SharedPtr& operator=(SharedPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const SharedPtr& other) const { return object_ == other.object_; }

  T* detach() { return std::exchange(object_, nullptr); }
  void reset() {
    if (T* object = detach()) object->release();
  }

 private:
  void retain() {
    if (object_) object_->retain();
  }

  T* object_ = nullptr;
};

template <class T>
SharedPtr<T> TransferPtr(T* object) {
  return SharedPtr<T>(object);
}

template <class T>
SharedPtr<T> RetainPtr(T* object) {
  if (object) object->retain();
  return SharedPtr<T>(object);
}

class String : public Referencing<String> {
 public:
  static String* string();  // autoreleased
  static String* string(const char* text, StringEncoding encoding);
  static String* alloc();
  String* init(const char* text, StringEncoding encoding);

  const char* utf8String() const { return text_.data(); }
  const char* cString(StringEncoding) const { return text_.data(); }
  UInteger length() const { return text_.size() - 1; }  // in bytes
  bool isEqualToString(const String* other) const;

 protected:
  String() = default;

 private:
  std::vector<char> text_ = {'\0'};
};

inline String* MakeConstantString(const char* text) {
  return String::string(text, UTF8StringEncoding);
}
#define MTLSTR(literal) NS::MakeConstantString(literal)

// A number of any kind, for the values of preprocessor macros.
class Number : public Referencing<Number> {
 public:
  static Number* number(int value);  // autoreleased
  static Number* number(long long value);
  static Number* number(bool value);
  long long longLongValue() const { return value_; }

 private:
  long long value_ = 0;
};

class Array : public Referencing<Array> {
 public:
  static Array* array(const Object* const* objects, UInteger count);  // autoreleased
  template <class T = Object>
  T* object(UInteger index) const {
    return static_cast<T*>(at(index));
  }
  UInteger count() const { return objects_.size(); }

 protected:
  ~Array() override;

 private:
  Object* at(UInteger index) const;
  std::vector<const Object*> objects_;
};

// Keys are strings.
class Dictionary : public Referencing<Dictionary> {
 public:
  static Dictionary* dictionary();  // autoreleased
  static Dictionary* dictionary(const Object* const* objects, const Object* const* keys,
                                UInteger count);
  UInteger count() const { return entries_.size(); }
  template <class T = Object>
  T* object(const Object* key) const {
    return static_cast<T*>(find(static_cast<const String*>(key)));
  }
  const String* keyAt(UInteger index) const { return entries_[index].first; }
  const Object* objectAt(UInteger index) const { return entries_[index].second; }

 protected:
  ~Dictionary() override;

 private:
  Object* find(const String* key) const;
  std::vector<std::pair<const String*, const Object*>> entries_;
};

class URL : public Referencing<URL> {
 public:
  static URL* fileURLWithPath(const String* path);  // autoreleased
  const String* path() const { return path_.get(); }
  const char* fileSystemRepresentation() const { return path_->utf8String(); }

 private:
  SharedPtr<const String> path_;
};

class Error : public Referencing<Error> {
 public:
  static Error* error(const char* domain, Integer code, const char* description);  // autoreleased

  String* localizedDescription() const { return description_.get(); }
  String* domain() const { return domain_.get(); }
  Integer code() const { return code_; }

 private:
  SharedPtr<String> domain_;
  SharedPtr<String> description_;
  Integer code_ = 0;
};

}  // namespace NS
#pragma GCC visibility pop
