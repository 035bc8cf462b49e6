#include "recipes/fewshot/metrics/matching.h"

#include <algorithm>

namespace lockstep::fewshot {

BoxMatcher::BoxMatcher(std::span<const TrueBox* const> truths,
                       std::span<const Detection* const> detections)
    : truths_(truths), detections_(detections.size()) {
  overlaps_.reserve(truths.size() * detections.size());
  for (const Detection* detection : detections)
    for (const TrueBox* truth : truths) overlaps_.push_back(box_iou(*detection, *truth));
}

std::size_t BoxMatcher::best_box(std::size_t detection, const std::vector<bool>& ignored,
                                 const std::vector<bool>& taken, double threshold) const {
  double best = std::min(threshold, 1 - 1e-10);
  std::size_t found = no_box;
  for (const bool pass : {false, true}) {  // first boxes that are not ignored, then ignored ones
    for (std::size_t g = 0; g < truths_.size(); ++g) {
      if (ignored[g] != pass || (taken[g] && !truths_[g]->crowd)) continue;
      const double overlap = overlaps_[detection * truths_.size() + g];
      if (overlap < best) continue;
      best = overlap;
      found = g;
    }
    if (found != no_box) break;
  }
  return found;
}

std::vector<std::size_t> BoxMatcher::match(const std::vector<bool>& ignored,
                                           double threshold) const {
  std::vector<std::size_t> found(detections_, no_box);
  std::vector<bool> taken(truths_.size());
  for (std::size_t d = 0; d < detections_ && !truths_.empty(); ++d) {
    found[d] = best_box(d, ignored, taken, threshold);
    if (found[d] != no_box) taken[found[d]] = true;
  }
  return found;
}

}  // namespace lockstep::fewshot
