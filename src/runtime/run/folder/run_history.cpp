// Reads the events of a run in one pass.
#include "runtime/run/folder/run_history.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/run/curves/step_list.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

// Entries that a resume may discard.
struct Counted {
  StepList<nlohmann::json> evals;
};

// Records a micro-batch that holds from `step` on. Earlier records for this or later steps are
// removed, so the steps ascend.
void take_micro(std::int64_t step, std::int64_t micro, RunHistory& history) {
  while (!history.micro.empty() && history.micro.back().first >= step) history.micro.pop_back();
  if (micro > history.memory_left) history.memory_left = 0;
  if (micro > 0 && (history.micro.empty() || history.micro.back().second != micro))
    history.micro.emplace_back(step, micro);
}

void take_history_event(nlohmann::json event, RunHistory& history, Counted& counted) {
  const std::string kind = text_or(event, "kind", "");
  const std::int64_t step = integer_or(event, "step", history.step);
  if (kind == "start") {
    history.step = step;
    take_micro(step, integer_or(event, "micro", 0), history);
    history.start = std::move(event);
    history.ended = history.start_up = nullptr;
  } else if (kind == "resume") {
    history.step = step;
    if (integer_or(history.last_step, "step", 0) > step) history.last_step = nullptr;
    counted.evals.take_back(step);
  } else if (kind == "step") {
    history.step = step;
    history.last_step = std::move(event);
  } else if (kind == "stop" || kind == "end" || kind == "checkpoint") {
    history.step = std::max(history.step, step);  // may lie between two logged steps
    if (kind != "checkpoint") history.ended = std::move(event);
  } else if (kind == "memory") {
    if (const std::int64_t micro = integer_or(event, "micro", 0); micro > 0) {
      take_micro(step, micro, history);
      if (!event.contains("recompute")) history.memory_left = micro;
    }
  } else if (kind == "micro") {
    take_micro(step, integer_or(event, "micro", 0), history);
  } else if (kind == "startup") {
    history.start_up = std::move(event);
  } else if (kind == "eval") {
    const std::int64_t of = integer_or(event, "step", 0);
    counted.evals.add(of, std::move(event));
  } else if (kind == "warning" || kind == "checkpoint_failed") {
    history.warnings.push_back(std::move(event));
  }
}

}  // namespace

std::pair<std::int64_t, std::int64_t> RunHistory::micro_at(std::int64_t step) const {
  std::pair<std::int64_t, std::int64_t> in_force{-1, 0};
  for (const auto& entry : micro)
    if (entry.first <= step) in_force = entry;
  return in_force;
}

nlohmann::json RunHistory::best() const {
  for (auto eval = evals.rbegin(); eval != evals.rend(); ++eval)
    if (eval->contains("best") && (*eval)["best"] == true) return *eval;
  return nullptr;
}

RunHistory read_history(const std::filesystem::path& events) {
  RunHistory history;
  Counted counted;
  std::string step_line;
  const auto take_line = [&](const std::string& line) {
    nlohmann::json event = parse_object(line);
    if (!event.is_discarded()) take_history_event(std::move(event), history, counted);
  };
  for_each_line(events, [&](const std::string& line) {
    if (is_step_line(line)) {
      step_line = line;
      return;
    }
    if (!step_line.empty()) take_line(step_line);
    step_line.clear();
    take_line(line);
  });
  if (!step_line.empty()) take_line(step_line);
  history.evals = counted.evals.take();
  return history;
}

}  // namespace lockstep
