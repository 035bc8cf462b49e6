// Matches the detections of one class in one picture with its true boxes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

inline constexpr std::size_t no_box = ~std::size_t{0};

class BoxMatcher {
 public:
  // detections: in descending order of score. The list `truths` and its boxes must outlive the
  // matcher, but the detections need not.
  BoxMatcher(std::span<const TrueBox* const> truths, std::span<const Detection* const> detections);

  // Returns for each detection the index of the true box that it is matched to, or no_box.
  // Detections choose in the order of scores. Each takes the box that overlaps it most, with an
  // overlap (box_iou) of at least `threshold`. A box that was taken before is not available, unless
  // it is a crowd. Boxes that count are preferred, even to boxes of larger overlap that do not
  // count. If overlaps are equal, the later box is taken. ignored: for each true box, whether it
  // does not count.
  std::vector<std::size_t> match(const std::vector<bool>& ignored, double threshold) const;

 private:
  std::size_t best_box(std::size_t detection, const std::vector<bool>& ignored,
                       const std::vector<bool>& taken, double threshold) const;

  std::span<const TrueBox* const> truths_;
  std::size_t detections_;
  std::vector<double> overlaps_;  // [detections, truths]
};

}  // namespace lockstep::fewshot
