// Formats single events, and the progress line, for the progress display.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

// Formats a number as "3.214", with more digits if three decimals would hide the value. Also
// returns "nan" and "inf". JSON stores non-finite numbers as null, so null becomes "nan".
std::string format_loss(const nlohmann::json& value);

// Formats an object of metrics as "loss 3.1  accuracy 0.87".
std::string format_metrics(const nlohmann::json& metrics);
// Returns the metrics of an "eval" event. In the event, infinite metrics are null in "metrics". In
// the result, they are "inf".
nlohmann::json metrics_to_show(const nlohmann::json& event);

// The text of a "not_finite" event: step, tensor, rank, micro-batch and samples.
std::string format_not_finite(const nlohmann::json& event);

// Formats the members units_per_s and mfu of an event as "19.8k tok/s  MFU 41.3%". Missing members
// are left out. If mfu is null, the text has "MFU unknown".
std::string format_rates(const nlohmann::json& event, const std::string& unit);
std::string format_mfu(const nlohmann::json& event);

// "4.2s: tool 0.31s, worker 0.90s, …" for a "startup" event; empty for null.
std::string format_start_up(const nlohmann::json& event);

// Returns `before` and "(from step 600 on)", for a run that was resumed after that step. Empty if
// first_step is 0.
std::string of_this_start(std::int64_t first_step, const std::string& before);

enum class Tone { plain, good, warning };
struct EventLine {
  std::string text;
  Tone tone = Tone::plain;
};
// Returns the lines for an event. "step" and "start" events have no lines. In "end" and "stop"
// events, "first_step" is the step after which the run was resumed.
std::vector<EventLine> describe_event(const nlohmann::json& event);

// A field of the progress line. If the line is too long, the fields with the highest `rank` are
// left out first.
struct Field {
  std::string text;
  int rank = 0;
};
// Joins the fields with two spaces. The result has at most `width` cells of a terminal; width 0 =
// unlimited.
std::string fit_line(std::vector<Field> fields, int width);

}  // namespace lockstep
