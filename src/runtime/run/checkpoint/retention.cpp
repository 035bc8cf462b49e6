// Decides which checkpoints to delete.
#include "runtime/run/checkpoint/retention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

// The index of the best checkpoint by the rule's metric. If several are equally good, the oldest.
// Nothing if none has the metric.
std::optional<std::size_t> best_of(const std::vector<CheckpointInfo>& all, const Retention& rule) {
  std::optional<std::size_t> best;
  double best_value = NAN;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double value = number_or(all[i].metrics, rule.best_metric.c_str(), NAN);
    if (std::isnan(value)) continue;
    if (!best || (rule.lower_is_better ? value < best_value : value > best_value)) {
      best = i;
      best_value = value;
    }
  }
  return best;
}

}  // namespace

std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule) {
  std::vector<CheckpointInfo> good;
  for (const CheckpointInfo& checkpoint : all)
    if (checkpoint.damage.empty()) good.push_back(checkpoint);
  std::set<std::size_t> kept;
  const auto newest = static_cast<std::size_t>(std::max<std::int64_t>(1, rule.keep));
  for (std::size_t i = good.size() - std::min(newest, good.size()); i < good.size(); ++i)
    kept.insert(i);
  if (!rule.best_metric.empty())
    if (const auto best = best_of(good, rule)) kept.insert(*best);
  if (rule.keep_every_s > 0) {
    std::optional<double> last;
    for (std::size_t i = 0; i < good.size(); ++i) {
      // The difference has no sign, so that a clock that was set back does not stop the series.
      if (last && std::fabs(good[i].time - *last) < rule.keep_every_s) continue;
      kept.insert(i);
      last = good[i].time;
    }
  }
  std::vector<CheckpointInfo> deleted;
  for (std::size_t i = 0; i < good.size(); ++i)
    if (!kept.count(i)) deleted.push_back(good[i]);
  return deleted;
}

}  // namespace lockstep
