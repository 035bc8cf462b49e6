#include "recipes/volume/prepare/score_summary.h"

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using CaseMetrics = std::map<std::string, double>;  // NaN = not defined

constexpr const char* maker_key = "made_by";
constexpr const char* maker = "lockstep score volume";

CaseMetrics metrics_of(const ScoredCase& scored, std::size_t c) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::int64_t all = 0;
  for (const OverlapCounts& counts : scored.classes) all += counts.truth;
  const OverlapCounts& counts = scored.classes.at(c);
  const std::int64_t either = counts.truth + counts.predicted - counts.both;
  CaseMetrics metrics{{"TP", static_cast<double>(counts.both)},
                      {"FP", static_cast<double>(counts.predicted - counts.both)},
                      {"FN", static_cast<double>(counts.truth - counts.both)},
                      {"TN", static_cast<double>(all - either)},
                      {"n_pred", static_cast<double>(counts.predicted)},
                      {"n_ref", static_cast<double>(counts.truth)}};
  metrics["Dice"] = either == 0 ? none : dice(counts);
  metrics["IoU"] = either == 0 ? none : iou(counts);
  metrics["HD95"] = scored.hausdorff_95.at(c - 1).value_or(none);
  return metrics;
}

// Writes counts as integers and undefined values as null.
json object_of(const CaseMetrics& metrics) {
  json object = json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isnan(value))
      object[name] = nullptr;
    else if (value == std::floor(value) && name != "Dice" && name != "IoU" && name != "HD95")
      object[name] = static_cast<std::int64_t>(value);
    else
      object[name] = value;
  }
  return object;
}

// The mean over the defined values, or over all values. In the second case, one undefined value
// makes the mean undefined.
CaseMetrics mean_of(const std::vector<CaseMetrics>& all, bool of_defined) {
  CaseMetrics sums, counts;
  for (const CaseMetrics& metrics : all)
    for (const auto& [name, value] : metrics) {
      const bool counted = !of_defined || !std::isnan(value);
      sums[name] += counted ? value : 0;
      counts[name] += counted ? 1 : 0;
    }
  for (auto& [name, sum] : sums) sum /= counts[name];
  return sums;
}

}  // namespace

json summary_of(const std::vector<ScoredCase>& cases, const std::string& unit) {
  const std::size_t classes = cases.at(0).classes.size();
  json per_case = json::array(), mean = json::object();
  for (const ScoredCase& scored : cases) {
    json metrics = json::object();
    for (std::size_t c = 1; c < classes; ++c) metrics[cat(c)] = object_of(metrics_of(scored, c));
    per_case.push_back({{"metrics", metrics},
                        {"prediction_file", scored.prediction.string()},
                        {"reference_file", scored.reference.string()}});
  }
  std::vector<CaseMetrics> means;
  for (std::size_t c = 1; c < classes; ++c) {
    std::vector<CaseMetrics> of_class;
    for (const ScoredCase& scored : cases) of_class.push_back(metrics_of(scored, c));
    means.push_back(mean_of(of_class, true));
    mean[cat(c)] = object_of(means.back());
  }
  return {{"foreground_mean", object_of(mean_of(means, false))},
          {"mean", mean},
          {"metric_per_case", per_case},
          {"hd95_unit", unit},
          {maker_key, maker}};
}

bool may_replace_summary(const fs::path& file) try {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return true;
  const json before = parse_json(read_file(file, data_bytes));
  return before.is_object() && before.contains(maker_key) && before[maker_key] == maker;
} catch (const Error&) {
  return false;
}

}  // namespace lockstep::volume
