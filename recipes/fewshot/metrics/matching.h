// Matches detections with boxes, in one picture and for one class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

inline constexpr std::size_t no_box = ~std::size_t{0};

class BoxMatcher {
 public:
  // detections: in descending order of score. It refers to both lists during its lifetime.
  BoxMatcher(std::span<const TrueBox* const> truths, std::span<const Detection* const> detections);

  // Returns the truth that each detection finds, or no_box. ignored: whether each truth does not
  // count. Detections choose boxes in the order of the scores. Each takes the box that overlaps it
  // most, by at least `threshold`, among the boxes that no earlier detection took; a crowd may be
  // taken again. Boxes that count are preferred to those that do not. Among equal overlaps the
  // later box is taken.
  std::vector<std::size_t> match(const std::vector<bool>& ignored, double threshold) const;

 private:
  std::size_t best_box(std::size_t detection, const std::vector<bool>& ignored,
                       const std::vector<bool>& taken, double threshold) const;

  std::span<const TrueBox* const> truths_;
  std::size_t detections_;
  std::vector<double> overlaps_;  // [detections, truths]
};

}  // namespace lockstep::fewshot
