#include "recipes/fewshot/metrics/boxes.h"

#include <algorithm>

#include "core/base/text/text.h"

namespace lockstep::fewshot {

std::string class_name(std::span<const NamedClass> classes, std::int64_t category) {
  for (const NamedClass& one : classes)
    if (one.category == category) return one.name;
  return cat("class ", category);
}

double box_iou(const Detection& detection, const TrueBox& truth) {
  const double width = std::min(detection.x + detection.width, truth.x + truth.width) -
                       std::max(detection.x, truth.x);
  const double height = std::min(detection.y + detection.height, truth.y + truth.height) -
                        std::max(detection.y, truth.y);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height, found = detection.width * detection.height;
  const double either = truth.crowd ? found : found + truth.width * truth.height - both;
  return both / either;
}

}  // namespace lockstep::fewshot
