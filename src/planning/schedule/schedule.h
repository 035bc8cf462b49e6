// Learning-rate curves as pure functions of the step. Each kind is a row of one table, which drives
// the options, the record of a run, the plan's words and the checks.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ScheduleKind;

// Null if there is none of that name.
const ScheduleKind* find_schedule_kind(const std::string& name);

// All lengths in steps (epochs are multiplied out by the plan).
struct Schedule {
  const ScheduleKind* kind = find_schedule_kind("constant");  // a row of the table
  double base_lr = 0;                                         // after scale_lr
  double min_lr = 0;
  double warmup_steps = 0;           // linear from base_lr / warmup_steps at step 0
  double total_steps = 0;            // where decaying kinds end; 0 = never ends (constant only)
  std::vector<double> parameters{};  // values of the kind's parameters, in its order
};

// A parameter that a kind needs besides warm-up and min_lr: the option schedule.NAME.
struct ScheduleParameter {
  const char* name;     // no other kind has this name
  const char* meaning;  // a phrase, as for an option
  double standard = 0;
  double min = 0, max = std::numeric_limits<double>::infinity();
  // A length: typed in the unit of schedule.unit, and above 0. In a Schedule it is in steps.
  bool is_length = false;
};

// The parameter's key in the record of a run, where lengths are in steps: "gamma", "every_steps".
std::string record_key(const ScheduleParameter& parameter);

struct ScheduleKind {
  const char* name;  // as schedule.kind is typed
  std::vector<ScheduleParameter> parameters{};
  bool uses_warmup = true;  // false: the curve rises by itself
  bool uses_min_lr = true;
  // The rate `since` steps after warm-up, 0 or more. Pure.
  double (*rate)(const Schedule& schedule, double since);
  // How the curve continues from base_lr, for "0.001, …" and "warm-up … to 0.001, then …".
  std::string (*words)(const Schedule& schedule, std::int64_t total_steps);
  // Faults of a curve that the ranges of the parameters do not exclude; null: there are none.
  std::optional<Error> (*fault)(const Schedule& schedule) = nullptr;
};

const std::vector<ScheduleKind>& schedule_kinds();

// Why a curve has no rates: a parameter out of its range, or a fault that its kind finds.
std::optional<Error> schedule_fault(const Schedule& schedule);

// The rate that optimizer step `step` (from 0) uses, of a schedule without fault. Pure.
double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace lockstep
