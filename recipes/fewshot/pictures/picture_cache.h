// Keeps decoded and resized pictures in memory, up to a bound in bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// Identifies a view, which is a decoded and resized picture, or a crop of one. A cache holds views
// of one data set, all of the same size.
struct PictureKey {
  int picture = 0;
  int box = -1;  // the box of a crop; -1: the whole picture
  friend bool operator==(const PictureKey&, const PictureKey&) = default;
};

// A cache of views. Any number of threads may use it. If several threads request the same view at
// once, one thread makes it, and the others wait. To make room, the least recently requested views
// are dropped first. A dropped view stays valid for callers that still hold it. A view larger than
// capacity_bytes is made but not kept.
class PictureCache {
 public:
  explicit PictureCache(std::uint64_t capacity_bytes);  // 0: no view is kept
  ~PictureCache();
  PictureCache(const PictureCache&) = delete;
  PictureCache& operator=(const PictureCache&) = delete;

  // Returns the view. If the cache does not hold it, `make` makes it. `make` runs on this thread,
  // or on another thread that requested the same key. No lock is held while `make` runs. If `make`
  // throws, all threads that wait for the view get the exception, and nothing is kept.
  std::shared_ptr<const Image> get(const PictureKey& key, const std::function<Image()>& make);

  struct Counts {
    std::int64_t hits = 0;    // requests for a view that was held or was being made
    std::int64_t misses = 0;  // requests for which a view was made
    std::int64_t evicted = 0;
    std::int64_t views = 0;   // number of views that the cache holds now
    std::uint64_t bytes = 0;  // bytes of their pixels; never above capacity_bytes
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::fewshot
