// Keeps decoded and resized pictures in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// One cache holds views of one kind (one size) from one set.
struct PictureKey {
  int picture = 0;
  int box = -1;  // for a crop; -1: the whole picture
  friend bool operator==(const PictureKey&, const PictureKey&) = default;
};

// May be used by any number of threads. If several request the same view at once, one of them makes
// it, and the others wait. When room is needed, the views that were not requested for the longest
// time are dropped first. A view that a caller holds stays valid. A view larger than the bound is
// made but not kept.
class PictureCache {
 public:
  explicit PictureCache(std::uint64_t capacity_bytes);  // 0: nothing is kept
  ~PictureCache();
  PictureCache(const PictureCache&) = delete;
  PictureCache& operator=(const PictureCache&) = delete;

  // make: called without a lock, on this thread or on another one that requested the same key. An
  // exception from it reaches all that wait for the view, and nothing is kept.
  std::shared_ptr<const Image> get(const PictureKey& key, const std::function<Image()>& make);

  struct Counts {
    std::int64_t hits = 0;    // views that existed, or that another thread was making
    std::int64_t misses = 0;  // views that had to be made
    std::int64_t evicted = 0;
    std::int64_t views = 0;   // number of views held now
    std::uint64_t bytes = 0;  // bytes of pixels held now; never above the bound
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::fewshot
