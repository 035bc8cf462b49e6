// Draws charts of detection scores as SVG.
#pragma once

#include <span>
#include <string>

#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/episode_scores.h"

namespace lockstep::fewshot {

// Draws precision over recall at IoU 0.5. There is a line for each class with ground truth, and a
// line for the mean of all these classes. The legend states the AP50 of each line. Base and novel
// classes are in separate panels, and many classes are in several panels. Each panel has the line
// of the mean.
std::string pr_chart(const DetectionResult& result, std::span<const NamedClass> classes);

// Draws a bar for each class: its mean AP50 over episodes, with the 95 % interval. Base and novel
// classes have different colours.
std::string class_chart(const EpisodeScores& scores, std::span<const NamedClass> classes);

}  // namespace lockstep::fewshot
