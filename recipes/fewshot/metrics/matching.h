// Which detection finds which box, in one picture and for one class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

inline constexpr std::size_t no_box = ~std::size_t{0};

class BoxMatcher {
 public:
  // detections: by falling score. Refers to both while it lives.
  BoxMatcher(std::span<const TrueBox* const> truths, std::span<const Detection* const> detections);

  // The truth that each detection finds, or no_box. ignored: for each truth, whether it does not
  // count. Detections take boxes in the order of the scores. Each takes the box that overlaps it
  // most, by at least `threshold`, among those that no detection took before; a crowd may be taken
  // again. Boxes that count go before those that do not, and of equal overlaps the later box is
  // taken.
  std::vector<std::size_t> match(const std::vector<bool>& ignored, double threshold) const;

 private:
  std::size_t best_box(std::size_t detection, const std::vector<bool>& ignored,
                       const std::vector<bool>& taken, double threshold) const;

  std::span<const TrueBox* const> truths_;
  std::size_t detections_;
  std::vector<double> overlaps_;  // [detections, truths]
};

}  // namespace lockstep::fewshot
