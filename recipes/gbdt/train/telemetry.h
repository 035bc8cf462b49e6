// Writes the events of a window's training and their times as lines of JSON.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/files/fd.h"

namespace lockstep::gbdt {

// Returns a time in Unix seconds as a text like "2026-01-31T09:15:00.123Z".
std::string iso_time(double unix_s);

// Writes FOLDER/training_run_ID.jsonl. If the environment variable LOCKSTEP_EVENTS names a file,
// the same lines are written to that file too. A line is {"timestamp", "run_id", "event_type",
// "phase", "symbol", "window_label", "status", "metrics", "message", "duration_seconds"}. Values
// that an event does not have are null. If a line cannot be written, it is left out, and the
// training continues.
class Telemetry {
 public:
  Telemetry(const std::filesystem::path& folder, std::string run_id, std::string symbol);

  void set_window(const std::string& label) { window_ = label; }
  // Writes a line for an event. event_type: the value of "event_type". fields: values for phase,
  // status, metrics, message and duration_seconds.
  void event(const std::string& event_type, nlohmann::json fields = nlohmann::json::object());
  // Writes the event phase_start, runs `work`, and writes phase_end with the time of `work` plus
  // before_s. before_s: seconds that were spent on this phase before the call.
  void phase(const std::string& name, const std::function<void()>& work, double before_s = 0);
  // Returns the seconds of each finished phase, by name.
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  UniqueFd own_, batch_;
  std::string run_id_, symbol_, window_;
  std::map<std::string, double> seconds_;
};

}  // namespace lockstep::gbdt
