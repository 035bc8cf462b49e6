// Charts of detection scores, as SVG.
#pragma once

#include <span>
#include <string>

#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/episode_scores.h"

namespace lockstep::fewshot {

// Precision over recall at IoU 0.5: a line per class with ground truth, and a line of their mean.
// The legend has AP50. Many classes are shown in several panels, with the mean in each.
std::string pr_chart(const DetectionResult& result, std::span<const NamedClass> classes);

// A bar per class: its mean AP50 over episodes with its interval. Base and novel classes have two
// colours.
std::string class_chart(const EpisodeScores& scores, std::span<const NamedClass> classes);

}  // namespace lockstep::fewshot
