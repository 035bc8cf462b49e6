#include "recipes/fewshot/metrics/coco_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/metrics/matching.h"

namespace lockstep::fewshot {
namespace {

// Returns exactly the numbers of numpy.linspace(first, last, count).
template <std::size_t count>
std::array<double, count> even_steps(double first, double last) {
  std::array<double, count> steps{};
  const double step = (last - first) / static_cast<double>(count - 1);
  for (std::size_t i = 0; i < count; ++i) steps[i] = static_cast<double>(i) * step + first;
  steps[count - 1] = last;
  return steps;
}

struct Range {
  double low, high;
  bool has(double area) const { return !(area < low || area > high); }
};
constexpr std::array<Range, area_count> area_ranges{
    {{0, 1e10}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, 1e10}}};

enum class Verdict : std::uint8_t { wrong, right, ignored };

// The matches of one class in all pictures. `verdicts` contains [areas, IoU thresholds] for each
// detection.
constexpr std::size_t verdict_count = area_count * iou_count;
struct ClassMatches {
  std::vector<double> scores;
  std::vector<std::size_t> ranks;  // rank of the detection in its picture, from 0
  std::vector<std::array<Verdict, verdict_count>> verdicts;
  std::array<std::size_t, area_count> truths{};  // numbers of true boxes that are not ignored
};

void add_picture(std::span<const TrueBox* const> truths, std::vector<const Detection*> detections,
                 ClassMatches& matches) {
  std::stable_sort(detections.begin(), detections.end(),
                   [](const Detection* a, const Detection* b) { return a->score > b->score; });
  const auto most = static_cast<std::size_t>(detection_limits.back());
  detections.resize(std::min(detections.size(), most));
  const BoxMatcher matcher(truths, detections);
  const std::size_t first = matches.scores.size();
  for (std::size_t d = 0; d < detections.size(); ++d) {
    matches.scores.push_back(detections[d]->score);
    matches.ranks.push_back(d);
  }
  matches.verdicts.resize(matches.scores.size());
  std::vector<bool> ignored(truths.size());
  for (std::size_t a = 0; a < area_count; ++a) {
    for (std::size_t g = 0; g < truths.size(); ++g)
      ignored[g] = truths[g]->crowd || truths[g]->ignore || !area_ranges[a].has(truths[g]->area);
    matches.truths[a] +=
        static_cast<std::size_t>(std::count(ignored.begin(), ignored.end(), false));
    for (std::size_t t = 0; t < iou_count && !detections.empty(); ++t) {
      const std::vector<std::size_t> found = matcher.match(ignored, iou_thresholds()[t]);
      for (std::size_t d = 0; d < detections.size(); ++d) {
        Verdict& verdict = matches.verdicts[first + d][a * iou_count + t];
        if (found[d] != no_box)
          verdict = ignored[found[d]] ? Verdict::ignored : Verdict::right;
        else if (!area_ranges[a].has(detections[d]->width * detections[d]->height))
          verdict = Verdict::ignored;
        else
          verdict = Verdict::wrong;
      }
    }
  }
}

// The boxes must be of one class and sorted by picture. Within a picture they keep their order.
ClassMatches match_class(std::span<const TrueBox* const> truths,
                         std::span<const Detection* const> detections) {
  ClassMatches matches;
  std::size_t g = 0, d = 0;
  while (g < truths.size() || d < detections.size()) {
    const bool of_truth = d == detections.size() ||
                          (g < truths.size() && truths[g]->picture <= detections[d]->picture);
    const std::int64_t picture = of_truth ? truths[g]->picture : detections[d]->picture;
    const std::size_t first_truth = g, first_detection = d;
    while (g < truths.size() && truths[g]->picture == picture) ++g;
    while (d < detections.size() && detections[d]->picture == picture) ++d;
    add_picture(truths.subspan(first_truth, g - first_truth),
                {detections.begin() + static_cast<std::ptrdiff_t>(first_detection),
                 detections.begin() + static_cast<std::ptrdiff_t>(d)},
                matches);
  }
  return matches;
}

struct Curve {
  double recall = 0;                             // recall with all detections
  std::array<double, recall_count> precision{};  // precision at each recall threshold
};

// order: detections by falling score. Detections with a rank of `limit` or more are skipped.
Curve curve_of(const ClassMatches& matches, std::span<const std::size_t> order, std::size_t area,
               std::size_t iou, std::size_t limit) {
  std::vector<double> recalls, precisions;
  double right = 0, wrong = 0;
  for (const std::size_t d : order) {
    if (matches.ranks[d] >= limit) continue;
    const Verdict verdict = matches.verdicts[d][area * iou_count + iou];
    right += verdict == Verdict::right ? 1 : 0;
    wrong += verdict == Verdict::wrong ? 1 : 0;
    recalls.push_back(right / static_cast<double>(matches.truths[area]));
    precisions.push_back(right / (wrong + right + std::numeric_limits<double>::epsilon()));
  }
  for (std::size_t i = precisions.size(); i-- > 1;)
    precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  Curve curve;
  if (!recalls.empty()) curve.recall = recalls.back();
  for (std::size_t r = 0; r < recall_count; ++r) {
    const auto reached = std::lower_bound(recalls.begin(), recalls.end(), recall_thresholds()[r]);
    if (reached == recalls.end()) break;
    curve.precision[r] = precisions[static_cast<std::size_t>(reached - recalls.begin())];
  }
  return curve;
}

std::size_t recall_place(std::size_t iou, std::size_t category, std::size_t categories,
                         std::size_t area, std::size_t limit) {
  return ((iou * categories + category) * area_count + area) * limit_count + limit;
}

std::size_t precision_place(std::size_t iou, std::size_t recall, std::size_t category,
                            std::size_t categories, std::size_t area, std::size_t limit) {
  return recall_place(iou * recall_count + recall, category, categories, area, limit);
}

void add_class(const ClassMatches& matches, std::size_t category, DetectionResult& result) {
  const std::size_t categories = result.categories.size();
  std::vector<std::size_t> order(matches.scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matches.scores[a] > matches.scores[b];
  });
  for (std::size_t a = 0; a < area_count; ++a) {
    if (matches.truths[a] == 0) continue;
    for (std::size_t m = 0; m < limit_count; ++m)
      for (std::size_t t = 0; t < iou_count; ++t) {
        const Curve curve =
            curve_of(matches, order, a, t, static_cast<std::size_t>(detection_limits[m]));
        result.recall[recall_place(t, category, categories, a, m)] = curve.recall;
        for (std::size_t r = 0; r < recall_count; ++r)
          result.precision[precision_place(t, r, category, categories, a, m)] = curve.precision[r];
      }
  }
}

template <class Box>
void check_finite(const char* what, std::span<const Box> boxes, double Box::*number) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    for (const double value : {box.x, box.y, box.width, box.height, box.*number})
      if (!std::isfinite(value))
        throw Error(cat(what, " ", i, " (picture ", box.picture, ", category ", box.category,
                        ") has a number that is not finite: ", value));
  }
}

// Groups the boxes by category, then by picture. Within a picture they keep their order.
template <class Box>
std::vector<std::vector<const Box*>> by_class(std::span<const Box> boxes,
                                              std::span<const std::int64_t> categories) {
  std::vector<std::vector<const Box*>> classes(categories.size());
  for (const Box& box : boxes) {
    const auto place = std::lower_bound(categories.begin(), categories.end(), box.category);
    if (place != categories.end() && *place == box.category)
      classes[static_cast<std::size_t>(place - categories.begin())].push_back(&box);
  }
  for (std::vector<const Box*>& one : classes)
    std::stable_sort(one.begin(), one.end(),
                     [](const Box* a, const Box* b) { return a->picture < b->picture; });
  return classes;
}

}  // namespace

const std::array<double, iou_count>& iou_thresholds() {
  static const auto thresholds = even_steps<iou_count>(0.5, 0.95);
  return thresholds;
}

const std::array<double, recall_count>& recall_thresholds() {
  static const auto thresholds = even_steps<recall_count>(0, 1);
  return thresholds;
}

double DetectionResult::precision_at(std::size_t iou, std::size_t recall_index,
                                     std::size_t category, AreaRange area,
                                     DetectionLimit limit) const {
  return precision[precision_place(iou, recall_index, category, categories.size(),
                                   static_cast<std::size_t>(area),
                                   static_cast<std::size_t>(limit))];
}

double DetectionResult::recall_at(std::size_t iou, std::size_t category, AreaRange area,
                                  DetectionLimit limit) const {
  return recall[recall_place(iou, category, categories.size(), static_cast<std::size_t>(area),
                             static_cast<std::size_t>(limit))];
}

DetectionResult evaluate_detections(std::span<const TrueBox> truths,
                                    std::span<const Detection> detections,
                                    std::span<const std::int64_t> categories) {
  check_finite("ground truth", truths, &TrueBox::area);
  check_finite("detection", detections, &Detection::score);
  DetectionResult result;
  result.categories.assign(categories.begin(), categories.end());
  std::sort(result.categories.begin(), result.categories.end());
  result.categories.erase(std::unique(result.categories.begin(), result.categories.end()),
                          result.categories.end());
  const std::size_t classes = result.categories.size();
  result.recall.assign(iou_count * classes * area_count * limit_count, no_score);
  result.precision.assign(result.recall.size() * recall_count, no_score);
  const auto class_truths = by_class(truths, result.categories);
  const auto class_detections = by_class(detections, result.categories);
  for (std::size_t k = 0; k < classes; ++k)
    add_class(match_class(class_truths[k], class_detections[k]), k, result);
  return result;
}

}  // namespace lockstep::fewshot
