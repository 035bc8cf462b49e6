// cosine_restarts: a cosine that starts again in cycles, of equal or growing length. Loshchilov and
// Hutter, SGDR (2017).
#include "core/base/text/text.h"
#include "planning/schedule/schedule_kinds.h"
#include "planning/words.h"

#include <algorithm>

namespace lockstep {
namespace {

enum { first_period, period_factor };  // parameters

// With less growth, the number of cycles would have no limit.
constexpr double least_mult = 1.01;

// The share of its cycle that step `since` has completed, in [0, 1). Cycles last length, length x
// mult, … steps.
double cycle_progress(double since, double length, double mult) {
  double start = 0;
  if (mult == 1) {
    start = whole_lengths(since, length) * length;
  } else {
    while (since * (1 + step_tolerance) >= start + length) {
      start += length;
      length *= mult;
    }
  }
  return std::clamp((since - start) / length, 0.0, 1.0);
}

double restarts_rate(const Schedule& schedule, double since) {
  return cosine_between(
      schedule.base_lr, schedule.min_lr,
      cycle_progress(since, schedule.parameters[first_period], schedule.parameters[period_factor]));
}

std::string restarts_text(const Schedule& schedule, std::int64_t total_steps) {
  std::vector<std::string> restarts;
  double at = schedule.warmup_steps, length = schedule.parameters[first_period];
  while (at + length < static_cast<double>(total_steps)) {
    if (restarts.size() == 4) {
      restarts.push_back("...");
      break;
    }
    at += length;
    length *= schedule.parameters[period_factor];
    restarts.push_back(general(at, 9));
  }
  if (restarts.empty()) return "no restart within the run";
  return cat(restarts.size() == 1 ? "restart at step " : "restarts at steps ",
             join(restarts, ", "));
}

std::string restarts_words(const Schedule& schedule, std::int64_t total_steps) {
  const double mult = schedule.parameters[period_factor];
  return cat("cosine to ", rate_text(schedule.min_lr), " over ",
             general(schedule.parameters[first_period], 9), " steps",
             mult == 1 ? "" : cat(", each period ", general(mult, 4), " times the last"), ", ",
             restarts_text(schedule, total_steps));
}

// Refuses cycles that are shorter than a step, or too many to count quickly.
std::optional<Error> restarts_fault(const Schedule& schedule) {
  const double length = schedule.parameters[first_period],
               mult = schedule.parameters[period_factor];
  if (length < 1)
    return Error(
        cat("schedule.period must be at least a step, but is ", general(length, 6), " steps"),
        "set schedule.period to more");
  if (mult == 1 || mult >= least_mult) return std::nullopt;
  return Error(cat("schedule.period_mult must be 1, or at least ", least_mult, ", but is ",
                   general(mult, 6)),
               "set schedule.period_mult to 1 for equal periods, or to 2 to double each");
}

}  // namespace

ScheduleKind cosine_restarts_schedule() {
  return {.name = "cosine_restarts",
          .parameters = {{.name = "period",
                          .meaning = "length of the first cycle of cosine_restarts",
                          .is_length = true},
                         {.name = "period_mult",
                          .meaning = "how many times longer each cycle of cosine_restarts is than "
                                     "the one before",
                          .standard = 1,
                          .min = 1}},
          .rate = restarts_rate,
          .words = restarts_words,
          .fault = restarts_fault};
}

}  // namespace lockstep
