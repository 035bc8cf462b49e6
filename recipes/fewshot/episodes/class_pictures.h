// Finds the pictures of a set that show a class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

// Holds for each class the pictures that show it, and its boxes in them. Only boxes that count
// (Box::counts) are used, so crowds and difficult objects are left out. A ClassPictures keeps no
// reference to the data.
class ClassPictures {
 public:
  explicit ClassPictures(const DetectionData& data);

  int categories() const { return static_cast<int>(pictures_.size()); }
  int pictures() const { return picture_count_; }
  // Returns the pictures that show a category: indexes into DetectionData::pictures, ascending.
  std::span<const int> of(int category) const { return pictures_[index(category)]; }
  // Returns the boxes of a category in one picture, which is of(category)[place]. They are indexes
  // into DetectionData::boxes, ascending.
  std::span<const int> boxes(int category, std::size_t place) const;
  // Returns the categories that a picture shows, ascending and without repetition.
  std::span<const int> shown_in(int picture) const { return shown_[index(picture)]; }

 private:
  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  int picture_count_ = 0;
  std::vector<std::vector<int>> pictures_;           // [categories]
  std::vector<std::vector<int>> boxes_;              // [categories]: its boxes, sorted by picture
  std::vector<std::vector<std::size_t>> first_box_;  // [categories][pictures_ + 1]
  std::vector<std::vector<int>> shown_;              // [pictures]
};

}  // namespace lockstep::fewshot
