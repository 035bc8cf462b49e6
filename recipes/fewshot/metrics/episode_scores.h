// Scores over episodes: each is evaluated by itself, with its own classes and detections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/media/bootstrap.h"
#include "recipes/fewshot/metrics/boxes.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"

namespace lockstep::fewshot {

// categories: ids of the whole data set, the same in every episode, not places in the episode.
struct ScoredEpisode {
  std::vector<std::int64_t> categories;
  std::vector<TrueBox> truths;  // of its query pictures
  std::vector<Detection> detections;
};

// The mean over episodes and its 95 % interval: BCa bootstrap, with an episode as a row. Episodes
// in which none of the classes has ground truth are left out. Without any episode the numbers are
// NaN; with a single one, the ends of the interval are.
struct EpisodeMean {
  std::size_t episodes = 0;  // those that count
  Interval ap, ap50, ap75;
};

struct ClassScores {
  std::int64_t category = 0;
  bool novel = false;
  EpisodeMean mean;         // over the episodes that have ground truth of it
  DetectionSummary pooled;  // over the detections of all episodes together
};

struct GroupScores {
  EpisodeMean mean;  // of an episode's mean over its classes of the group
  DetectionSummary pooled;
};

struct EpisodeScores {
  GroupScores all, base, novel;
  std::vector<ClassScores> classes;        // that an episode drew, ascending
  std::vector<DetectionSummary> episodes;  // each by itself, in the order given
  DetectionResult pooled;
};

// A class without ground truth in an episode is left out of that episode. Pooled: one evaluation
// of all episodes, in which a picture counts once for every episode that has it. novel: ids of the
// novel classes; all others are base. Throws Error for no episodes, and as evaluate_detections
// does, naming the episode.
EpisodeScores score_episodes(std::span<const ScoredEpisode> episodes,
                             std::span<const std::int64_t> novel,
                             const BootstrapOptions& options = {});

}  // namespace lockstep::fewshot
