// The few Foundation classes that Metal's host API uses.
#include "Metal/Foundation.hpp"

#include <cstring>
#include <memory>

namespace NS {
namespace {

using Pool = std::vector<const Object*>;

// The thread's pools, the innermost last. The first one exists as long as the thread.
struct Pools {
  std::vector<std::pair<const AutoreleasePool*, Pool>> stack{1};

  ~Pools() {
    while (!stack.empty()) drain_last();
  }

  void drain_last() {
    Pool objects = std::move(stack.back().second);
    stack.pop_back();
    for (const Object* object : objects) object->release();
  }
};

Pools& pools() {
  thread_local Pools pools;
  return pools;
}

}  // namespace

void Object::release() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void Object::autorelease_object() const { pools().stack.back().second.push_back(this); }

AutoreleasePool* AutoreleasePool::alloc() { return new AutoreleasePool; }

AutoreleasePool::AutoreleasePool() { pools().stack.emplace_back(this, Pool()); }

// Pools that were created later and not drained end with it.
AutoreleasePool::~AutoreleasePool() {
  Pools& all = pools();
  for (size_t i = all.stack.size(); i-- > 1;) {
    if (all.stack[i].first != this) continue;
    while (all.stack.size() > i) all.drain_last();
    return;
  }
}

String* String::string() { return alloc()->autorelease(); }

String* String::string(const char* text, StringEncoding encoding) {
  return alloc()->init(text, encoding)->autorelease();
}

String* String::alloc() { return new String; }

String* String::init(const char* text, StringEncoding) {
  text_.assign(text, text + std::strlen(text) + 1);
  return this;
}

bool String::isEqualToString(const String* other) const { return other && text_ == other->text_; }

Number* Number::number(int value) { return number(static_cast<long long>(value)); }
Number* Number::number(bool value) { return number(static_cast<long long>(value)); }

Number* Number::number(long long value) {
  auto* number = new Number;
  number->value_ = value;
  return number->autorelease();
}

// Object has no retain() with a static type; this one adds the reference of a container.
struct Retained : Object {
  static void add(const Object* object) { (object->*&Retained::retain_object)(); }
};

Array* Array::array(const Object* const* objects, UInteger count) {
  auto* array = new Array;
  array->objects_.assign(objects, objects + count);
  for (const Object* object : array->objects_) Retained::add(object);
  return array->autorelease();
}

Array::~Array() {
  for (const Object* object : objects_) object->release();
}

Object* Array::at(UInteger index) const {
  return index < objects_.size() ? const_cast<Object*>(objects_[index]) : nullptr;
}

Dictionary* Dictionary::dictionary() { return dictionary(nullptr, nullptr, 0); }

Dictionary* Dictionary::dictionary(const Object* const* objects, const Object* const* keys,
                                   UInteger count) {
  auto* dictionary = new Dictionary;
  for (UInteger i = 0; i < count; ++i) {
    Retained::add(keys[i]);
    Retained::add(objects[i]);
    dictionary->entries_.emplace_back(static_cast<const String*>(keys[i]), objects[i]);
  }
  return dictionary->autorelease();
}

Dictionary::~Dictionary() {
  for (auto& [key, object] : entries_) {
    key->release();
    object->release();
  }
}

Object* Dictionary::find(const String* key) const {
  for (const auto& [own, object] : entries_) {
    if (own->isEqualToString(key)) return const_cast<Object*>(object);
  }
  return nullptr;
}

URL* URL::fileURLWithPath(const String* path) {
  auto* url = new URL;
  url->path_ = RetainPtr(path);
  return url->autorelease();
}

Error* Error::error(const char* domain, Integer code, const char* description) {
  auto* error = new Error;
  error->domain_ = TransferPtr(String::alloc()->init(domain, UTF8StringEncoding));
  error->description_ = TransferPtr(String::alloc()->init(description, UTF8StringEncoding));
  error->code_ = code;
  return error->autorelease();
}

}  // namespace NS
