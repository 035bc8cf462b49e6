// Texts of the progress display, one event at a time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

// "3.214"; more digits for values that three decimals would hide. Also "nan" and "inf". JSON stores
// non-finite numbers as null, so null becomes "nan".
std::string format_loss(const nlohmann::json& value);

// "loss 3.1  accuracy 0.87" for an object of metrics.
std::string format_metrics(const nlohmann::json& metrics);
// The metrics of an evaluation's event. Infinite metrics are null in its "metrics"; they become
// "inf" here.
nlohmann::json metrics_to_show(const nlohmann::json& event);

// The text of a "not_finite" event: step, tensor, rank, micro-batch and samples.
std::string format_not_finite(const nlohmann::json& event);

// "19.8k tok/s  MFU 41.3%" from units_per_s and mfu of an event. Missing members are left out. If
// mfu is null, the text is "MFU unknown".
std::string format_rates(const nlohmann::json& event, const std::string& unit);
std::string format_mfu(const nlohmann::json& event);

// "4.2s: tool 0.31s, worker 0.90s, …" for a "startup" event; empty for null.
std::string format_start_up(const nlohmann::json& event);

// "(from step 600 on)" after `before`, for a start that began after that step. Empty if first_step
// is 0.
std::string of_this_start(std::int64_t first_step, const std::string& before);

enum class Tone { plain, good, warning };
struct EventLine {
  std::string text;
  Tone tone = Tone::plain;
};
// The lines for an event. Steps and the start have none. In "end" and "stop" events, "first_step"
// is the step after which the start began.
std::vector<EventLine> describe_event(const nlohmann::json& event);

// A field of the progress line. If the line is too long, fields with the highest rank are dropped
// first.
struct Field {
  std::string text;
  int rank = 0;
};
// Joins the fields with two spaces, in at most `width` cells; width 0 = unlimited.
std::string fit_line(std::vector<Field> fields, int width);

}  // namespace lockstep
