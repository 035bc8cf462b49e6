// Computes means over the results of evaluate_detections.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text/text.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"

namespace lockstep::fewshot {
namespace {

// The mean of the scores that exist.
struct Mean {
  double sum = 0;
  std::size_t count = 0;
  void add(double value) {
    if (value <= no_score) return;
    sum += value;
    ++count;
  }
  double value() const { return count == 0 ? no_score : sum / static_cast<double>(count); }
};

constexpr std::size_t all_thresholds = ~std::size_t{0};

class Summarizer {
 public:
  Summarizer(const DetectionResult& result, std::span<const std::int64_t> categories)
      : result_(result) {
    for (std::size_t k = 0; k < result.categories.size(); ++k)
      if (std::find(categories.begin(), categories.end(), result.categories[k]) != categories.end())
        classes_.push_back(k);
  }

  double precision(AreaRange area, std::size_t iou = all_thresholds) const {
    Mean mean;
    for (std::size_t t = 0; t < iou_count; ++t)
      for (std::size_t r = 0; r < recall_count && (iou == all_thresholds || iou == t); ++r)
        for (const std::size_t k : classes_) mean.add(result_.precision_at(t, r, k, area));
    return mean.value();
  }

  double recall(AreaRange area, DetectionLimit limit = DetectionLimit::best_100) const {
    Mean mean;
    for (std::size_t t = 0; t < iou_count; ++t)
      for (const std::size_t k : classes_) mean.add(result_.recall_at(t, k, area, limit));
    return mean.value();
  }

 private:
  const DetectionResult& result_;
  std::vector<std::size_t> classes_;
};

}  // namespace

DetectionSummary summarize(const DetectionResult& result) {
  return summarize(result, result.categories);
}

DetectionSummary summarize(const DetectionResult& result,
                           std::span<const std::int64_t> categories) {
  constexpr std::size_t iou_50 = 0, iou_75 = 5;
  const Summarizer of(result, categories);
  return {.ap = of.precision(AreaRange::all),
          .ap50 = of.precision(AreaRange::all, iou_50),
          .ap75 = of.precision(AreaRange::all, iou_75),
          .ap_small = of.precision(AreaRange::small),
          .ap_medium = of.precision(AreaRange::medium),
          .ap_large = of.precision(AreaRange::large),
          .ar_1 = of.recall(AreaRange::all, DetectionLimit::best_1),
          .ar_10 = of.recall(AreaRange::all, DetectionLimit::best_10),
          .ar_100 = of.recall(AreaRange::all),
          .ar_small = of.recall(AreaRange::small),
          .ar_medium = of.recall(AreaRange::medium),
          .ar_large = of.recall(AreaRange::large)};
}

std::vector<Score> score_list(const DetectionSummary& summary, const std::string& prefix) {
  std::vector<Score> scores;
  const auto add = [&](const char* name, double value) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    scores.push_back({.name = prefix + name, .value = value > no_score ? value : none});
  };
  add("ap", summary.ap);
  add("ap50", summary.ap50);
  add("ap75", summary.ap75);
  add("ap_small", summary.ap_small);
  add("ap_medium", summary.ap_medium);
  add("ap_large", summary.ap_large);
  add("ar_1", summary.ar_1);
  add("ar_10", summary.ar_10);
  add("ar_100", summary.ar_100);
  add("ar_small", summary.ar_small);
  add("ar_medium", summary.ar_medium);
  add("ar_large", summary.ar_large);
  return scores;
}

std::string score_text(double score) { return score > no_score ? fixed(score, 3) : "-"; }

}  // namespace lockstep::fewshot
