#include "tools/jobs/search/expectation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"
#include "planning/words.h"

namespace lockstep {
namespace {

constexpr double whole_percent = 100;

double failed_percent(const BatchOutcome& outcome) {
  return outcome.total > 0 ? whole_percent * static_cast<double>(outcome.failed) /
                                 static_cast<double>(outcome.total)
                           : 0;
}

[[noreturn]] void refuse_expectation(std::string_view text) {
  throw Error(cat("--expect must be gpu_activity, sm_activity or failed, then >= or <=, then a "
                  "number, but is ",
                  text),
              "for example 'gpu_activity>=40%' (of each GPU), 'failed<=15%' (of all jobs), "
              "'failed<=3'; in quotes, since > and < are the shell's");
}

}  // namespace

Expectation::Expectation(std::string_view text) : text_(text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == text.npos || sign + 1 == text.size() || text[sign + 1] != '=')
    refuse_expectation(text);
  constexpr std::array<std::pair<std::string_view, Of>, 3> names{
      {{"gpu_activity", Of::gpu_activity},
       {"sm_activity", Of::sm_activity},
       {"failed", Of::failed}}};
  std::optional<Of> found;
  for (const auto& [name, of] : names)
    if (trim(text.substr(0, sign)) == name) found = of;
  if (!found) refuse_expectation(text);
  of_ = *found;
  at_least_ = text[sign] == '>';
  std::string value = trim(text.substr(sign + 2));
  is_share_ = value.ends_with('%');
  if (is_share_) value.pop_back();
  const auto number = detail::parse_real(value);
  const bool is_percent = is_share_ || is_of_gpus();
  if (!number || *number < 0 || (is_percent && *number > whole_percent)) refuse_expectation(text);
  bound_ = *number;
}

std::optional<double> Expectation::value_of(const GpuActivity& gpu) const {
  return of_ == Of::gpu_activity ? gpu.busy_percent : gpu.sm_percent;
}

Expectation::Answer Expectation::of_gpus(const std::vector<GpuActivity>& gpus) const {
  std::vector<std::string> each, below;
  for (const GpuActivity& gpu : gpus) {
    const std::optional<double> value = value_of(gpu);
    const std::string name = cat("GPU ", gpu.index);
    each.push_back(cat(name, " ", value ? cat(fixed(*value, 1), " %") : "not measured"));
    if (!value || !holds(*value)) below.push_back(name);
  }
  if (gpus.empty()) return {.met = false, .text = cat(text_, ": no GPU was measured: not met")};
  return {.met = below.empty(),
          .text = cat(text_, ": ", join(each, ", "),
                      below.empty() ? ": met" : cat(": not met by ", join(below, ", ")))};
}

double Expectation::shortfall(const BatchOutcome& outcome) const {
  const auto missed_by = [&](double value) { return holds(value) ? 0 : std::abs(value - bound_); };
  if (!is_of_gpus()) return missed_by(failed_percent(outcome));
  double most = outcome.gpus.empty() ? whole_percent : 0;
  for (const GpuActivity& gpu : outcome.gpus) {
    const std::optional<double> value = value_of(gpu);
    most = std::max(most, value ? missed_by(*value) : whole_percent);
  }
  return most;
}

Expectation::Answer Expectation::answer(const BatchOutcome& outcome) const {
  if (is_of_gpus()) return of_gpus(outcome.gpus);
  const auto failed = static_cast<double>(outcome.failed);
  const double share = failed_percent(outcome);
  const bool met = holds(is_share_ ? share : failed);
  return {.met = met,
          .text = cat(text_, ": ", outcome.failed, " of ", count_of(outcome.total, "job"), ", ",
                      fixed(share, 1), " %: ", met ? "met" : "not met")};
}

}  // namespace lockstep
