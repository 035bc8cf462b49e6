// Learning-rate curves as pure functions of the step. Each kind of curve is a row of one table. The
// options, the run's record, the plan's text and the checks all use this table.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ScheduleKind;

// Null if no kind has this name.
const ScheduleKind* find_schedule_kind(const std::string& name);

// A curve of one run. All lengths are in steps; lengths in epochs were converted to steps.
struct Schedule {
  const ScheduleKind* kind = find_schedule_kind("constant");  // a row of the table
  double base_lr = 0;                                         // the peak rate, after scale_lr
  double min_lr = 0;
  double warmup_steps = 0;           // the rise is linear, from base_lr / warmup_steps at step 0
  double total_steps = 0;            // the step where decaying kinds end; 0 = never (constant only)
  std::vector<double> parameters{};  // values of the kind's parameters, in the order of the kind
};

// A parameter of a kind in addition to warm-up and min_lr. Its option is schedule.NAME.
struct ScheduleParameter {
  const char* name;     // unique among all kinds
  const char* meaning;  // a phrase for help, as for an option
  double standard = 0;
  double min = 0, max = std::numeric_limits<double>::infinity();
  // Whether it is a length. Users give lengths in schedule.unit, and lengths must be above 0. A
  // Schedule has lengths in steps.
  bool is_length = false;
};

// The parameter's key in the run's record, where lengths are in steps: "gamma", "every_steps".
std::string record_key(const ScheduleParameter& parameter);

struct ScheduleKind {
  const char* name;  // the value of schedule.kind
  std::vector<ScheduleParameter> parameters{};
  bool uses_warmup = true;  // false: the kind has its own rise
  bool uses_min_lr = true;
  // The rate `since` steps after the end of warm-up; since >= 0. A pure function.
  double (*rate)(const Schedule& schedule, double since);
  // Words for the curve after base_lr, used in "0.001, …" and "warm-up … to 0.001, then …".
  std::string (*words)(const Schedule& schedule, std::int64_t total_steps);
  // Makes checks beyond the ranges of single parameters. Null if the kind needs no such checks.
  std::optional<Error> (*fault)(const Schedule& schedule) = nullptr;
};

const std::vector<ScheduleKind>& schedule_kinds();

// The reason why the curve is not valid; nothing if it is valid. A parameter is out of its range,
// or ScheduleKind::fault found an error.
std::optional<Error> schedule_fault(const Schedule& schedule);

// The rate of optimizer step `step` (from 0). The schedule must be valid. A pure function.
double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace lockstep
