// A map with at most so many entries: it drops the least recently used ones.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

namespace mlx::core {

template <typename Key, typename Value>
class BoundedCache {
 public:
  explicit BoundedCache(size_t most) : most_(most) {}
  BoundedCache(const BoundedCache&) = delete;
  BoundedCache& operator=(const BoundedCache&) = delete;
  BoundedCache(BoundedCache&&) = default;  // iterators into a list stay valid

  // Returns null if there is none. The pointer is valid until the next call.
  Value* find(const Key& key) {
    auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }

  // Returns the value of the key; calls `make` if there is none yet. The reference is valid until
  // the next call.
  template <typename Make>
  Value& get(Key key, Make make) {
    if (Value* found = find(key)) return *found;
    entries_.emplace_front(std::move(key), make());
    places_.emplace(entries_.front().first, entries_.begin());
    if (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  size_t most_;
  Entries entries_;  // the most recently used one is the first
  std::unordered_map<Key, typename Entries::iterator> places_;
};

}  // namespace mlx::core
