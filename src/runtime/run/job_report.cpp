#include "runtime/run/job_report.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_history.h"

namespace lockstep {
namespace {

void add_metrics(nlohmann::json& results, const std::string& prefix, const nlohmann::json& event) {
  if (!event.is_object() || !event.contains("metrics") || !event["metrics"].is_object()) return;
  for (const auto& [name, value] : event["metrics"].items())
    if (value.is_number()) results[prefix + name] = value;
}

nlohmann::json training_results(const RunDir& run) {
  const RunHistory history = read_history(run.events_path());
  nlohmann::json results{{"steps", history.step}};
  if (history.last_step.is_object() && history.last_step.contains("loss"))
    results["loss"] = history.last_step["loss"];
  if (!history.evals.empty()) add_metrics(results, "eval.", history.evals.back());
  if (const nlohmann::json best = history.best(); best.is_object()) {
    results["best_step"] = integer_or(best, "step", 0);
    add_metrics(results, "best.", best);
  }
  return results;
}

const char* events_of_job() {
  const char* const file = std::getenv("LOCKSTEP_EVENTS");
  return file == nullptr || *file == '\0' ? nullptr : file;
}

}  // namespace

void report_to_batch(const nlohmann::json& results) {
  const char* const file = events_of_job();
  if (file == nullptr) return;
  nlohmann::json said = nlohmann::json::object();
  for (const auto& [name, value] : results.items())
    if (!value.is_null()) said[name] = value;
  if (said.empty()) return;
  try {
    append_line(open_lines(file).get(), to_line({{"results", said}}));
  } catch (const Error&) {
    // The folder was removed, or the disk is full.
  }
}

void report_training_to_batch(const RunDir& run) {
  if (events_of_job() == nullptr) return;
  try {
    report_to_batch(training_results(run));
  } catch (const Error&) {
    // The run itself reports that its events cannot be read.
  }
}

}  // namespace lockstep
