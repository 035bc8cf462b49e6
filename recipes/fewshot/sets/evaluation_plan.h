// Which episodes training and evaluation draw.
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

// Episodes of base or of novel classes with one number of supports each.
struct EvaluationGroup {
  std::string name;  // "base", "novel"
  std::int64_t shots = 0;
  Episodes episodes;
};
// Groups of the classes that training draws come first (data.classes), then the others; each kind
// is ordered by the number of shots. Supports come from the training set and queries from the
// validation set. A kind is left out if too few of its classes can be drawn; with fewer than
// episode.n_way all of them are taken.
std::vector<EvaluationGroup> evaluation_groups(const FewshotOptions& options, const Sets& sets);

// Every box with its picture's and category's ids; a box that does not count is a crowd or ignored.
std::vector<TrueBox> true_boxes(const DetectionData& data);
TrueBox true_box(const DetectionData& data, const Box& box);

}  // namespace lockstep::fewshot
