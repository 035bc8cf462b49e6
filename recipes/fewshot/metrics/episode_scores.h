// Computes scores over episodes. Each episode is evaluated separately, with its own classes and
// detections. For pooled scores, all episodes are evaluated together. An episode is a few classes,
// and query pictures in which they are looked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/media/bootstrap.h"
#include "recipes/fewshot/metrics/boxes.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"

namespace lockstep::fewshot {

// The boxes of one episode. categories: the ids that the data set has for the episode's classes.
struct ScoredEpisode {
  std::vector<std::int64_t> categories;
  std::vector<TrueBox> truths;  // boxes in the episode's query pictures
  std::vector<Detection> detections;
};

// Means over episodes and their 95 % intervals, by a BCa (bias-corrected and accelerated) bootstrap
// over episodes. An episode is left out of a mean if none of the mean's classes has ground truth in
// it. The classes are those of a group, or a single class. If no episode remains, all numbers are
// NaN. If one episode remains, only the ends of the intervals are NaN.
struct EpisodeMean {
  std::size_t episodes = 0;  // number of episodes that are averaged
  Interval ap, ap50, ap75;
};

struct ClassScores {
  std::int64_t category = 0;
  bool novel = false;
  EpisodeMean mean;         // over episodes with ground truth of the class
  DetectionSummary pooled;  // from one evaluation of all episodes together
};

struct GroupScores {
  EpisodeMean mean;  // mean over episodes of an episode's own mean over the group's classes
  DetectionSummary pooled;
};

struct EpisodeScores {
  GroupScores all, base, novel;
  std::vector<ClassScores> classes;        // all classes that any episode has, by ascending id
  std::vector<DetectionSummary> episodes;  // [episodes]: in the given order
  DetectionResult pooled;
};

// Scores episodes. A class without ground truth in an episode is left out of that episode's mean.
// Pooled scores come from one evaluation of all episodes together. If several episodes have the
// same picture, it is a separate picture for each of them. novel: ids of the novel classes; all
// other classes are base classes. Throws Error if there are no episodes. Also throws Error as
// evaluate_detections does; the message names the episode.
EpisodeScores score_episodes(std::span<const ScoredEpisode> episodes,
                             std::span<const std::int64_t> novel,
                             const BootstrapOptions& options = {});

}  // namespace lockstep::fewshot
