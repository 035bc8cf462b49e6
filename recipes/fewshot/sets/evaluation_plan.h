// Decides the shape of training episodes, and the groups of episodes that an evaluation draws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/fewshot/episodes/episodes.h"
#include "recipes/fewshot/metrics/boxes.h"
#include "recipes/fewshot/options/fewshot_options.h"
#include "recipes/fewshot/sets/sets.h"

namespace lockstep::fewshot {

EpisodeShape training_shape(const FewshotOptions& options);

// A group of evaluation episodes, all of base classes or all of novel classes. They have the same
// number of shots (supports per class).
struct EvaluationGroup {
  std::string name;  // "base" or "novel"
  std::int64_t shots = 0;
  Episodes episodes;
};
// Returns the groups of an evaluation. The groups of base classes come first, or those of novel
// classes if data.classes is novel. Groups of the same classes are in ascending order of shots.
// Supports come from the training set, and queries from the validation set. A class can be drawn if
// it has enough pictures in both sets. A group is left out if none of its classes can be drawn. If
// fewer than episode.n_way classes can be drawn, each episode has all of these classes.
std::vector<EvaluationGroup> evaluation_groups(const FewshotOptions& options, const Sets& sets);

// Returns every box as a TrueBox, with the ids of its picture and category. A difficult box gets
// TrueBox::ignore.
std::vector<TrueBox> true_boxes(const DetectionData& data);
TrueBox true_box(const DetectionData& data, const Box& box);

}  // namespace lockstep::fewshot
