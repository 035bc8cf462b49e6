#include "tools/report/exports/start_marks.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json/json.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {

void StartMarks::event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  const std::int64_t step = integer_or(event, "step", 0);
  const double time = number_or(event, "time", NAN);
  if (kind == "start") {
    if (std::isfinite(time)) all_.push_back({step, time, step, time});
    return;
  }
  if (kind == "resume") return;  // the start event that follows counts
  const bool ends_a_step =
      kind == "step" || kind == "checkpoint" || kind == "stop" || kind == "end";
  saw(ends_a_step ? step : 0, time);
}

void StartMarks::step(double step, double time) {
  if (step >= 0 && step < 9e15) saw(static_cast<std::int64_t>(step), time);
}

void StartMarks::saw(std::int64_t step, double time) {
  if (all_.empty()) return;
  StartMark& mark = all_.back();
  mark.last_step = std::max(mark.last_step, step);
  if (std::isfinite(time)) mark.last_time = std::max(mark.last_time, time);
}

std::string text_of_marks(const std::vector<StartMark>& marks) {
  nlohmann::json list = nlohmann::json::array();
  for (const StartMark& mark : marks)
    list.push_back({mark.step, mark.time, mark.last_step, mark.last_time});
  return to_line(list);
}

std::vector<StartMark> marks_of_text(const std::string& text) {
  std::vector<StartMark> marks;
  const nlohmann::json list = parse_json(text);
  if (!list.is_array() || list.size() > most_start_marks) return marks;
  const auto is_step = [](const nlohmann::json& value) {
    return value.is_number_integer() && std::abs(value.get<double>()) <= 0x1p53;
  };
  for (const nlohmann::json& one : list) {
    if (!one.is_array() || one.size() != 4 || !is_step(one[0]) || !one[1].is_number() ||
        !is_step(one[2]) || !one[3].is_number())
      return {};
    marks.push_back({one[0].get<std::int64_t>(), one[1].get<double>(), one[2].get<std::int64_t>(),
                     one[3].get<double>()});
  }
  return marks;
}

}  // namespace lockstep
