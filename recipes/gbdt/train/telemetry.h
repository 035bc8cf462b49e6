// Writes the events of a training with their times, as lines of JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/files/fd.h"

namespace lockstep::gbdt {

// Unix seconds as "2026-01-31T09:15:00.123Z".
std::string iso_time(double unix_s);

// Writes FOLDER/training_run_ID.jsonl, and the same lines to the file that the environment variable
// LOCKSTEP_EVENTS names, if it is set. A line is {"timestamp", "run_id", "event_type", "phase",
// "symbol", "window_label", "status", "metrics", "message", "duration_seconds"}; values that an
// event lacks are null. If a line cannot be written, it is left out, and the training does not
// fail.
// event does not have. A line that cannot be written is left out: a training does not fail for it.
class Telemetry {
 public:
  Telemetry(const std::filesystem::path& folder, std::string run_id, std::string symbol);

  void set_window(const std::string& label) { window_ = label; }
  // Writes a line. fields: only those above. event_type: the kind of line.
  void event(const std::string& event_type, nlohmann::json fields = nlohmann::json::object());
  // Writes phase_start, runs `work`, and writes phase_end. Records its time plus before_s, the time
  // spent on it before.
  void phase(const std::string& name, const std::function<void()>& work, double before_s = 0);
  // Seconds by phase.
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  UniqueFd own_, batch_;
  std::string run_id_, symbol_, window_;
  std::map<std::string, double> seconds_;
};

}  // namespace lockstep::gbdt
