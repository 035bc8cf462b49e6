#include "tools/report/exports/event_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/run/events/json_lines.h"
#include "tools/report/exports/line_numbers.h"

namespace lockstep {

double step_of_line(const std::string& line) {
  double step = NAN;
  visit_numbers(line, [&](const LineNumber& number) {
    if (number.key == "step" && number.inner.empty()) step = number.value;
  });
  return step;
}

EventLimits::EventLimits(const std::filesystem::path& events) {
  for_each_line(events, [&](const std::string& line) {
    const std::int64_t number = lines_++;
    if (is_step_line(line)) {
      ++step_lines_;
      return;
    }
    if (line.find("resume") == line.npos) return;
    const nlohmann::json event = parse_object(line);
    if (event.is_discarded() || text_or(event, "kind", "") != "resume") return;
    const double step = number_or(event, "step", NAN);
    if (!std::isnan(step)) limits_.emplace_back(number, step);
  });
  double lowest = std::numeric_limits<double>::infinity();
  for (auto limit = limits_.rbegin(); limit != limits_.rend(); ++limit)
    limit->second = lowest = std::min(lowest, limit->second);
}

bool EventLimits::counts(std::int64_t line, double step) {
  while (next_ < limits_.size() && limits_[next_].first <= line) ++next_;
  return next_ == limits_.size() || !(step > limits_[next_].second);
}

void for_each_effective_line(const std::filesystem::path& events,
                             const std::function<void(const std::string& line)>& visit) {
  for_each_effective_line(events, EventLimits(events), visit);
}

void for_each_effective_line(const std::filesystem::path& events, EventLimits limits,
                             const std::function<void(const std::string& line)>& visit) {
  std::int64_t number = 0;
  for_each_line(events, [&](const std::string& line) {
    if (number < limits.lines() && limits.counts(number, step_of_line(line))) visit(line);
    ++number;
  });
}

}  // namespace lockstep
