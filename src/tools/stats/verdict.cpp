#include "tools/stats/verdict.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

std::string margin_text(Scale scale, double margin) {
  return scale == Scale::ratio ? general(100 * margin, 3) + " %" : general(margin, 4);
}

std::string verdict_text(const Contrast& contrast, double margin, const VerdictWords& words,
                         double confidence) {
  switch (find(contrast, margin)) {
    case FoundDifference::same:
      return "no difference at the margin of " + margin_text(contrast.scale, margin);
    case FoundDifference::less:
      return words.less;
    case FoundDifference::more:
      return words.more;
    case FoundDifference::inconclusive:
      break;
  }
  if (!contrast.unknown.empty()) return "inconclusive: " + contrast.unknown;
  const std::optional<int> needed = repeats_needed(contrast, margin, confidence);
  if (!needed) return "inconclusive";
  return cat("inconclusive: would need ", repeats_words(*needed),
             contrast.paired ? " pairs" : " repeats");
}

std::optional<bool> more_by(const Contrast& contrast, double limit) {
  if (!(limit >= 0) || !std::isfinite(limit))
    throw Error(cat("a limit must be 0 or more, but is ", limit), "for example 3%");
  const bool is_ratio = contrast.scale == Scale::ratio;
  const double edge = is_ratio ? 1 + limit : limit;
  if (contrast.interval.low > edge) return true;
  if (contrast.interval.high <= edge) return false;
  return std::nullopt;
}

}  // namespace lockstep
