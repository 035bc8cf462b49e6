// Scores over episodes. Each episode is evaluated separately, with its own classes and detections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/media/bootstrap.h"
#include "recipes/fewshot/metrics/boxes.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"

namespace lockstep::fewshot {

// categories: ids of the whole data set, equal in all episodes; not positions in the episode.
struct ScoredEpisode {
  std::vector<std::int64_t> categories;
  std::vector<TrueBox> truths;  // of its query pictures
  std::vector<Detection> detections;
};

// The mean over episodes and its 95 % interval: BCa bootstrap, with an episode as a row. Episodes
// are left out if none of their classes has ground truth. Without any episode the numbers are NaN.
// With a single one, only the ends of the interval are NaN.
struct EpisodeMean {
  std::size_t episodes = 0;  // episodes that are counted
  Interval ap, ap50, ap75;
};

struct ClassScores {
  std::int64_t category = 0;
  bool novel = false;
  EpisodeMean mean;         // over the episodes with ground truth of the class
  DetectionSummary pooled;  // over the detections of all episodes together
};

struct GroupScores {
  EpisodeMean mean;  // of the episodes' means over their classes of the group
  DetectionSummary pooled;
};

struct EpisodeScores {
  GroupScores all, base, novel;
  std::vector<ClassScores> classes;        // classes that some episode drew, ascending
  std::vector<DetectionSummary> episodes;  // each episode separately, in the given order
  DetectionResult pooled;
};

// If a class has no ground truth in an episode, it is left out of that episode. Pooled scores come
// from one evaluation of all episodes, in which a picture counts once for every episode that has
// it. novel: ids of the novel classes; all others are base. Throws Error if there are no episodes.
// Also throws as evaluate_detections does, and names the episode.
EpisodeScores score_episodes(std::span<const ScoredEpisode> episodes,
                             std::span<const std::int64_t> novel,
                             const BootstrapOptions& options = {});

}  // namespace lockstep::fewshot
