#include "recipes/gbdt/train/telemetry.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/base/clock.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::gbdt {

std::string iso_time(double unix_s) {
  const auto whole = static_cast<std::time_t>(std::floor(unix_s));
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%03dZ", date,
                static_cast<int>((unix_s - static_cast<double>(whole)) * 1000));
  return text;
}

Telemetry::Telemetry(const std::filesystem::path& folder, std::string run_id, std::string symbol)
    : own_(open_lines(folder / ("training_run_" + run_id + ".jsonl"))),
      run_id_(std::move(run_id)),
      symbol_(std::move(symbol)) {
  const char* const events = std::getenv("LOCKSTEP_EVENTS");
  if (events != nullptr && *events != '\0') batch_ = open_lines(events);
}

void Telemetry::event(const std::string& event_type, nlohmann::json fields) {
  nlohmann::ordered_json line;
  line["timestamp"] = iso_time(system_clock().wall_s());
  line["run_id"] = run_id_;
  line["event_type"] = event_type;
  for (const char* key :
       {"phase", "symbol", "window_label", "status", "metrics", "message", "duration_seconds"})
    line[key] = fields.contains(key) ? nlohmann::ordered_json(std::move(fields[key])) : nullptr;
  line["symbol"] = symbol_;
  if (!window_.empty()) line["window_label"] = window_;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (own_) append_line(own_.get(), text);
  if (batch_) append_line(batch_.get(), text);
}

void Telemetry::phase(const std::string& name, const std::function<void()>& work, double before_s) {
  const double begin = system_clock().now_s();
  event("phase_start", {{"phase", name}});
  work();
  const double seconds = system_clock().now_s() - begin + before_s;
  seconds_[name] += seconds;
  event("phase_end", {{"phase", name}, {"duration_seconds", seconds}});
}

}  // namespace lockstep::gbdt
