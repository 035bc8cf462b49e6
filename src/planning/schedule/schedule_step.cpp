// step: the rate is multiplied by a factor after each fixed number of steps.
#include "core/base/text/text.h"
#include "planning/schedule/schedule_kinds.h"
#include "planning/words.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

enum { step_every, step_gamma };  // parameters

double step_rate(const Schedule& schedule, double since) {
  const double drops = whole_lengths(since, schedule.parameters[step_every]);
  return std::max(schedule.min_lr,
                  schedule.base_lr * std::pow(schedule.parameters[step_gamma], drops));
}

std::string step_words(const Schedule& schedule, std::int64_t /*total_steps*/) {
  return cat("x ", general(schedule.parameters[step_gamma], 4), " every ",
             general(schedule.parameters[step_every], 9), " steps",
             schedule.min_lr > 0 ? cat(", at least ", rate_text(schedule.min_lr)) : "");
}

}  // namespace

ScheduleKind step_schedule() {
  return {.name = "step",
          .parameters = {{.name = "every",
                          .meaning = "length between two drops of step",
                          .is_length = true},
                         {.name = "gamma",
                          .meaning = "factor on the rate at each drop of step",
                          .standard = 0.1,
                          .max = 1}},
          .rate = step_rate,
          .words = step_words};
}

}  // namespace lockstep
