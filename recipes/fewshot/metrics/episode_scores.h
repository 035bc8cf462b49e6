// Computes scores over episodes. Each episode is evaluated separately, with its own classes and
// detections.
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

// A mean over episodes and its 95 % interval. The interval is a BCa bootstrap over episodes. An
// episode is left out if none of its classes has ground truth. Without any episode, all numbers are
// NaN. With one episode, only the ends of the interval are NaN.
struct EpisodeMean {
  std::size_t episodes = 0;  // number of episodes in the mean
  Interval ap, ap50, ap75;
};

struct ClassScores {
  std::int64_t category = 0;
  bool novel = false;
  EpisodeMean mean;         // over episodes with ground truth of the class
  DetectionSummary pooled;  // summary of all episodes, evaluated together
};

struct GroupScores {
  EpisodeMean mean;  // mean of each episode's mean over classes of the group
  DetectionSummary pooled;
};

struct EpisodeScores {
  GroupScores all, base, novel;
  std::vector<ClassScores> classes;        // classes of any episode, by ascending id
  std::vector<DetectionSummary> episodes;  // [episodes]: in the given order
  DetectionResult pooled;
};

// Scores episodes. A class without ground truth in an episode is left out of that episode. Pooled
// scores come from one evaluation of all episodes together. If several episodes have the same
// picture, it is a separate picture for each of them. novel: ids of the novel classes; all others
// are base classes. Throws Error if there are no episodes. Also throws as evaluate_detections does,
// and names the episode.
EpisodeScores score_episodes(std::span<const ScoredEpisode> episodes,
                             std::span<const std::int64_t> novel,
                             const BootstrapOptions& options = {});

}  // namespace lockstep::fewshot
