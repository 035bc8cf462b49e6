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
  // detections: in descending order of score. The array of `truths` and its boxes must outlive the
  // matcher, but `detections` need not.
  BoxMatcher(std::span<const TrueBox* const> truths, std::span<const Detection* const> detections);

  // Returns for each detection the index of the true box to which it is matched, or no_box.
  // Detections are matched in the order of scores. Each takes the true box that overlaps it most,
  // with an overlap (box_iou) of at least `threshold`. A true box that an earlier detection took is
  // not available, unless it is a crowd. Boxes that are not ignored are preferred, even to ignored
  // boxes of larger overlap. If overlaps are equal, the true box with the larger index is taken.
  // ignored: [truths], true for a true box that does not count. A detection that is matched to it
  // is neither right nor wrong.
  std::vector<std::size_t> match(const std::vector<bool>& ignored, double threshold) const;

 private:
  std::size_t best_box(std::size_t detection, const std::vector<bool>& ignored,
                       const std::vector<bool>& taken, double threshold) const;

  std::span<const TrueBox* const> truths_;
  std::size_t detections_;
  std::vector<double> overlaps_;  // [detections, truths]
};

}  // namespace lockstep::fewshot
