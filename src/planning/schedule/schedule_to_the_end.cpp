// Schedules that change in one direction from the end of warm-up to the last step: constant,
// linear, polynomial and cosine.
#include "core/base/text/text.h"
#include "planning/schedule/schedule_kinds.h"
#include "planning/words.h"

#include <cmath>

namespace lockstep {
namespace {

std::string to_the_end(const Schedule& schedule, std::int64_t total_steps) {
  return cat(" to ", rate_text(schedule.min_lr), " at step ", total_steps);
}

// The rate at `left`, the remaining share of the schedule in [0, 1].
double rate_of(const Schedule& schedule, double left) {
  return schedule.min_lr + (schedule.base_lr - schedule.min_lr) * left;
}

}  // namespace

ScheduleKind constant_schedule() {
  return {.name = "constant",
          .uses_min_lr = false,
          .rate = [](const Schedule& schedule, double) { return schedule.base_lr; },
          .words = [](const Schedule&, std::int64_t) { return std::string("constant"); }};
}

ScheduleKind linear_schedule() {
  return {.name = "linear",
          .rate = [](const Schedule& schedule,
                     double since) { return rate_of(schedule, 1 - run_progress(schedule, since)); },
          .words =
              [](const Schedule& schedule, std::int64_t total_steps) {
                return cat("linear", to_the_end(schedule, total_steps));
              }};
}

ScheduleKind polynomial_schedule() {
  return {.name = "polynomial",
          .parameters = {{.name = "power",
                          .meaning = "exponent of polynomial; 1 is linear",
                          .standard = 1}},
          .rate =
              [](const Schedule& schedule, double since) {
                return rate_of(schedule,
                               std::pow(1 - run_progress(schedule, since), schedule.parameters[0]));
              },
          .words =
              [](const Schedule& schedule, std::int64_t total_steps) {
                return cat("polynomial of power ", general(schedule.parameters[0], 4),
                           to_the_end(schedule, total_steps));
              }};
}

ScheduleKind cosine_schedule() {
  return {.name = "cosine",
          .rate =
              [](const Schedule& schedule, double since) {
                return cosine_between(schedule.base_lr, schedule.min_lr,
                                      run_progress(schedule, since));
              },
          .words =
              [](const Schedule& schedule, std::int64_t total_steps) {
                return cat("cosine", to_the_end(schedule, total_steps));
              }};
}

}  // namespace lockstep
