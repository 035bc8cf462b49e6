// Finds the pictures of a set that show a class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Only boxes that count (Box::counts) show a class, so no crowds and no difficult objects. Keeps no
// reference to the data.
class ClassPictures {
 public:
  explicit ClassPictures(const DetectionData& data);

  int categories() const { return static_cast<int>(pictures_.size()); }
  int pictures() const { return picture_count_; }
  // Indexes into DetectionData::pictures, ascending.
  std::span<const int> of(int category) const { return pictures_[index(category)]; }
  // Boxes of this category in the picture of(category)[place]: indexes into DetectionData::boxes,
  // ascending.
  std::span<const int> boxes(int category, std::size_t place) const;
  // The categories that a picture shows, ascending, each once.
  std::span<const int> shown_in(int picture) const { return shown_[index(picture)]; }

 private:
  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  int picture_count_ = 0;
  std::vector<std::vector<int>> pictures_;           // [categories]
  std::vector<std::vector<int>> boxes_;              // [categories]: by picture
  std::vector<std::vector<std::size_t>> first_box_;  // [categories][pictures_ + 1] into boxes_
  std::vector<std::vector<int>> shown_;              // [pictures]
};

}  // namespace lockstep::fewshot
