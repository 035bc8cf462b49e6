#include "runtime/run/stop_grace.h"

#include "runtime/run/events/json_lines.h"

#include <algorithm>
#include <string>

namespace lockstep {

void StopGrace::learn_from(const RunDir& run) {
  for_each_line(run.events_path(), [&](const std::string& line) {
    // Nearly all lines record steps and need not be parsed.
    if (line.find("\"kind\":\"checkpoint\"") != line.npos ||
        line.find("\"kind\":\"eval\"") != line.npos)
      on_event(parse_object(line));
  });
}

void StopGrace::on_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  const auto learn = [&](double& longest_s, const char* key) {
    longest_s = std::max(longest_s, number_or(event, key, 0));
  };
  if (kind == "step") learn(step_s_, "step_s");
  if (kind == "eval") learn(evaluation_s_, "seconds");
  if (kind == "checkpoint") learn(save_s_, "seconds");
}

double StopGrace::seconds() const {
  constexpr double least_s = 60, times = 5, slow_disk_bytes_per_s = 50e6;
  if (given_s_ > 0) return given_s_;
  const double saving_s = save_s_ > 0 ? times * save_s_ : checkpoint_bytes_ / slow_disk_bytes_per_s;
  return std::max(least_s, times * (step_s_ + evaluation_s_) + saving_s);
}

}  // namespace lockstep
