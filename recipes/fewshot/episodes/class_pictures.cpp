#include "recipes/fewshot/episodes/class_pictures.h"

#include <algorithm>

#include "core/base/check.h"

namespace lockstep::fewshot {

ClassPictures::ClassPictures(const DetectionData& data)
    : picture_count_(static_cast<int>(data.pictures.size())),
      pictures_(data.categories.size()),
      boxes_(data.categories.size()),
      first_box_(data.categories.size()),
      shown_(data.pictures.size()) {
  for (std::size_t i = 0; i < data.boxes.size(); ++i) {
    const Box& box = data.boxes[i];
    if (!box.counts()) continue;
    const std::size_t category = index(box.category);
    std::vector<int>& of_class = pictures_[category];
    if (of_class.empty() || of_class.back() != box.picture) {
      of_class.push_back(box.picture);
      first_box_[category].push_back(boxes_[category].size());
      shown_[index(box.picture)].push_back(box.category);
    }
    boxes_[category].push_back(static_cast<int>(i));
  }
  for (std::size_t category = 0; category < pictures_.size(); ++category)
    first_box_[category].push_back(boxes_[category].size());
  for (std::vector<int>& shown : shown_) std::sort(shown.begin(), shown.end());
}

std::span<const int> ClassPictures::boxes(int category, std::size_t place) const {
  const std::vector<std::size_t>& first = first_box_[index(category)];
  LOCKSTEP_CHECK(place + 1 < first.size());
  return std::span(boxes_[index(category)]).subspan(first[place], first[place + 1] - first[place]);
}

}  // namespace lockstep::fewshot
