// Decides which episodes training and evaluation draw.
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

// Episodes of either base or novel classes, with one number of supports.
struct EvaluationGroup {
  std::string name;  // "base", "novel"
  std::int64_t shots = 0;
  Episodes episodes;
};
// Groups of the classes that training draws (data.classes) come first, then the others. Within each
// kind, groups are ordered by the number of shots. Supports come from the training set and queries
// from the validation set. A kind is left out if too few of its classes can be drawn. If it has
// fewer than episode.n_way classes, all are used.
std::vector<EvaluationGroup> evaluation_groups(const FewshotOptions& options, const Sets& sets);

// Every box with the ids of its picture and category. A box that does not count is a crowd or
// ignored.
std::vector<TrueBox> true_boxes(const DetectionData& data);
TrueBox true_box(const DetectionData& data, const Box& box);

}  // namespace lockstep::fewshot
