// one_cycle: the rate rises from a small value to the learning rate and then falls to almost
// nothing. Both curves are half a cosine. Smith and Topin, "Super-Convergence" (arXiv:1708.07120).
// The curve and its defaults are those of PyTorch's OneCycleLR (two phases, cosine annealing).
// Momentum is not changed.
#include "core/base/text/text.h"
#include "planning/schedule/schedule_kinds.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

enum { rise_share, div_factor, final_div_factor };  // parameters

double first_rate(const Schedule& schedule) {
  return schedule.base_lr / schedule.parameters[div_factor];
}
double last_rate(const Schedule& schedule) {
  return first_rate(schedule) / schedule.parameters[final_div_factor];
}

// The step with the highest rate, counted from 0 and with a fraction. A negative value means that
// the rise is shorter than a step. The rate then falls from the first step on.
double peak_step(const Schedule& schedule) {
  return schedule.parameters[rise_share] * schedule.total_steps - 1;
}

double one_cycle_rate(const Schedule& schedule, double since) {
  const double peak = peak_step(schedule), last = schedule.total_steps - 1;
  if (since < peak) return cosine_between(first_rate(schedule), schedule.base_lr, since / peak);
  const double progress = last > peak ? (since - peak) / (last - peak) : 0;
  return cosine_between(schedule.base_lr, last_rate(schedule), std::clamp(progress, 0.0, 1.0));
}

std::string one_cycle_words(const Schedule& schedule, std::int64_t total_steps) {
  return cat("reached from ", rate_text(first_rate(schedule)), " at step ",
             general(std::max(0.0, peak_step(schedule)) + 1, 9), ", then cosine to ",
             rate_text(last_rate(schedule)), " at step ", total_steps);
}

}  // namespace

ScheduleKind one_cycle_schedule() {
  return {.name = "one_cycle",
          .parameters = {{.name = "rise_share",
                          .meaning = "share of the run in which one_cycle rises",
                          .standard = 0.3,
                          .max = 1},
                         {.name = "div_factor",
                          .meaning = "one_cycle begins at the learning rate divided by this",
                          .standard = 25,
                          .min = 1},
                         {.name = "final_div_factor",
                          .meaning = "one_cycle ends at its first rate divided by this",
                          .standard = 1e4,
                          .min = 1}},
          .uses_warmup = false,
          .uses_min_lr = false,
          .rate = one_cycle_rate,
          .words = one_cycle_words};
}

}  // namespace lockstep
