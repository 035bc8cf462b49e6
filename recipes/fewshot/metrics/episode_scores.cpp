#include "recipes/fewshot/metrics/episode_scores.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

using Categories = std::vector<std::int64_t>;

// The values of the episodes that have a score.
struct Samples {
  std::vector<double> ap, ap50, ap75;
  void add(const DetectionSummary& summary) {
    if (summary.ap <= no_score) return;
    ap.push_back(summary.ap);
    ap50.push_back(summary.ap50);
    ap75.push_back(summary.ap75);
  }
};

// A single episode gives no interval, because it says nothing about the variation between episodes.
Interval interval_of(const std::vector<double>& values, const BootstrapOptions& options) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {none, none, none};
  if (values.size() == 1) return {none, values[0], none};
  return bootstrap_mean(values, options);
}

EpisodeMean mean_of(const Samples& samples, const BootstrapOptions& options) {
  return {.episodes = samples.ap.size(),
          .ap = interval_of(samples.ap, options),
          .ap50 = interval_of(samples.ap50, options),
          .ap75 = interval_of(samples.ap75, options)};
}

// The boxes of all episodes. Each pair of episode and picture becomes a picture of its own. The
// pictures of an episode keep their order.
struct Pool {
  std::vector<TrueBox> truths;
  std::vector<Detection> detections;
  std::int64_t pictures = 0;

  void add(const ScoredEpisode& episode) {
    const std::set<std::int64_t> drawn(episode.categories.begin(), episode.categories.end());
    std::map<std::int64_t, std::int64_t> numbers;
    for (const TrueBox& box : episode.truths) numbers[box.picture] = 0;
    for (const Detection& box : episode.detections) numbers[box.picture] = 0;
    for (auto& [picture, number] : numbers) number = pictures++;
    const auto add_to = [&](auto& pool, const auto& boxes) {
      for (auto box : boxes) {
        if (!drawn.contains(box.category)) continue;
        box.picture = numbers[box.picture];
        pool.push_back(box);
      }
    };
    add_to(truths, episode.truths);
    add_to(detections, episode.detections);
  }
};

DetectionResult evaluate(const ScoredEpisode& episode, std::size_t place) {
  try {
    return evaluate_detections(episode.truths, episode.detections, episode.categories);
  } catch (const Error& error) {
    throw Error(cat("episode ", place, ": ", error.what()), error.hint());
  }
}

struct Groups {
  Categories all, base, novel;
  bool is_novel(std::int64_t category) const {
    return std::binary_search(novel.begin(), novel.end(), category);
  }
};

Groups groups_of(std::span<const ScoredEpisode> episodes, std::span<const std::int64_t> novel) {
  std::set<std::int64_t> drawn;
  for (const ScoredEpisode& episode : episodes)
    drawn.insert(episode.categories.begin(), episode.categories.end());
  const std::set<std::int64_t> new_ones(novel.begin(), novel.end());
  Groups groups;
  for (const std::int64_t category : drawn) {
    groups.all.push_back(category);
    (new_ones.contains(category) ? groups.novel : groups.base).push_back(category);
  }
  return groups;
}

}  // namespace

EpisodeScores score_episodes(std::span<const ScoredEpisode> episodes,
                             std::span<const std::int64_t> novel, const BootstrapOptions& options) {
  if (episodes.empty()) throw Error("there are no episodes to score");
  const Groups groups = groups_of(episodes, novel);
  EpisodeScores scores;
  Samples all, base, others;
  std::map<std::int64_t, Samples> classes;
  Pool pool;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const DetectionResult result = evaluate(episodes[i], i);
    scores.episodes.push_back(summarize(result));
    all.add(scores.episodes.back());
    base.add(summarize(result, groups.base));
    others.add(summarize(result, groups.novel));
    for (const std::int64_t category : result.categories)
      classes[category].add(summarize(result, {&category, 1}));
    pool.add(episodes[i]);
  }
  scores.pooled = evaluate_detections(pool.truths, pool.detections, groups.all);
  scores.all = {mean_of(all, options), summarize(scores.pooled)};
  scores.base = {mean_of(base, options), summarize(scores.pooled, groups.base)};
  scores.novel = {mean_of(others, options), summarize(scores.pooled, groups.novel)};
  for (const std::int64_t category : groups.all)
    scores.classes.push_back({.category = category,
                              .novel = groups.is_novel(category),
                              .mean = mean_of(classes[category], options),
                              .pooled = summarize(scores.pooled, {&category, 1})});
  return scores;
}

}  // namespace lockstep::fewshot
