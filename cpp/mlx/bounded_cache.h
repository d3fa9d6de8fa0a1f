// A map that is bounded: beyond so many entries it forgets those that were not asked for longest.
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
  BoundedCache(BoundedCache&&) = default;  // places in a list stay

  // Null if there is none. The pointer holds until the next call.
  Value* find(const Key& key) {
    auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }

  // The value of the key, which `make` returns if there is none yet. The reference holds until the
  // next call.
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
  Entries entries_;  // the last one asked for is the first
  std::unordered_map<Key, typename Entries::iterator> places_;
};

}  // namespace mlx::core
