// Decoded and resized pictures, kept in memory within a bound.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/media/pictures/image.h"

namespace lockstep::fewshot {

// One cache holds views of one kind (one size) of one set.
struct PictureKey {
  int picture = 0;
  int box = -1;  // of a crop; -1: the whole picture
  friend bool operator==(const PictureKey&, const PictureKey&) = default;
};

// Any number of threads. A view that is asked for by several at once is made by one of them, and
// the others wait for it. The views that were not asked for the longest go first when room is
// needed. A view that a caller holds stays valid. A view that is larger than the bound is made and
// not kept.
class PictureCache {
 public:
  explicit PictureCache(std::uint64_t capacity_bytes);  // 0: nothing is kept
  ~PictureCache();
  PictureCache(const PictureCache&) = delete;
  PictureCache& operator=(const PictureCache&) = delete;

  // make: called without a lock, on this thread or on another that asked for the same key. An
  // exception of it reaches all who wait for it, and nothing is kept.
  std::shared_ptr<const Image> get(const PictureKey& key, const std::function<Image()>& make);

  struct Counts {
    std::int64_t hits = 0;    // was there, or being made by another thread
    std::int64_t misses = 0;  // was made
    std::int64_t evicted = 0;
    std::int64_t views = 0;   // held now
    std::uint64_t bytes = 0;  // of pixels, held now; never above the bound
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::fewshot
