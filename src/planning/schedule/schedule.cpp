// The table of schedules, and the code that all of them share.
#include "planning/schedule/schedule.h"

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "planning/schedule/schedule_kinds.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds{
      constant_schedule(), linear_schedule(),          step_schedule(),     polynomial_schedule(),
      cosine_schedule(),   cosine_restarts_schedule(), one_cycle_schedule()};
  return kinds;
}

const ScheduleKind* find_schedule_kind(const std::string& name) {
  for (const ScheduleKind& kind : schedule_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string record_key(const ScheduleParameter& parameter) {
  return cat(parameter.name, parameter.is_length ? "_steps" : "");
}

std::optional<Error> schedule_fault(const Schedule& schedule) {
  const ScheduleKind& kind = *schedule.kind;
  LOCKSTEP_CHECK(schedule.parameters.size() == kind.parameters.size());
  for (std::size_t i = 0; i < kind.parameters.size(); ++i)
    if (kind.parameters[i].is_length && !(schedule.parameters[i] > 0))
      return Error(cat("schedule.kind = ", kind.name, " needs schedule.", kind.parameters[i].name,
                       " above 0, but it is ", general(schedule.parameters[i], 6)),
                   cat("set schedule.", kind.parameters[i].name, ", in the unit of schedule.unit"));
  if (kind.fault != nullptr)
    if (std::optional<Error> fault = kind.fault(schedule)) return fault;
  for (std::size_t i = 0; i < kind.parameters.size(); ++i)
    if (const auto& [name, meaning, standard, min, max, is_length] = kind.parameters[i];
        !(schedule.parameters[i] >= min && schedule.parameters[i] <= max))
      return Error(cat("schedule.", name, " must be from ", general(min, 6), " to ",
                       general(max, 6), ", but is ", general(schedule.parameters[i], 6)));
  return std::nullopt;
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  if (step < schedule.warmup_steps)
    return schedule.base_lr * std::min(1.0, static_cast<double>(step + 1) / schedule.warmup_steps);
  return schedule.kind->rate(schedule, static_cast<double>(step) - schedule.warmup_steps);
}

double run_progress(const Schedule& schedule, double since) {
  if (schedule.total_steps <= 0) return 0;
  const double length = schedule.total_steps - schedule.warmup_steps;
  return length <= 0 ? 1 : std::min(1.0, since / length);
}

double whole_lengths(double steps, double length) {
  return std::floor(steps / length * (1 + step_tolerance));
}

}  // namespace lockstep
