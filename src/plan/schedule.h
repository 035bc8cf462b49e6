// Learning-rate curves as pure functions of the step.
#pragma once

#include <cstdint>

namespace lockstep {

enum class ScheduleKind;

// All lengths in steps (epochs are multiplied out by the plan).
struct Schedule {
  ScheduleKind kind{};
  double base_lr = 0;  // after scale_lr
  double min_lr = 0;
  double warmup_steps = 0;  // linear from base_lr / warmup_steps at step 0
  double total_steps = 0;   // where decaying kinds reach min_lr; 0 = never ends (constant only)
  double power = 1;
  double every_steps = 0, gamma = 0.1;
  double period_steps = 0, period_mult = 1;
};

// The rate that optimizer step `step` (from 0) uses. Pure.
double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace lockstep
