#include "training/trainer/output/prediction_reserve.h"

#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/progress/forecast.h"

#include <algorithm>

namespace lockstep {

void PredictionReserve::started_up(std::int64_t step) {
  if (!setup_.start_up || !setup_.expected.after.predicts) return;
  const double start_s = setup_.start_up->seconds();
  keep(step, start_s, cat("predictions take about ", format_seconds(start_s), " to start"));
}

void PredictionReserve::evaluated(std::int64_t step, double evaluation_s) {
  const AfterTraining& after = setup_.expected.after;
  const double needed_s =
      prediction_s(after.items, evaluation_s, setup_.plan.valid_samples, setup_.group.size());
  if (!after.reserve_is_guess || needed_s == 0) return;
  const double start_s = setup_.start_up ? setup_.start_up->seconds() : 0;
  const double whole_s = start_s + needed_s;
  keep(step, whole_s,
       cat("by this evaluation predicting ", count_of(after.items, "item"), " takes about ",
           format_seconds(whole_s)));
}

void PredictionReserve::keep(std::int64_t step, double seconds, const std::string& why) {
  // leaving_s: for the ranks to end after the predictions
  constexpr double margin = 1.15, leaving_s = 2;
  if (recorder_ && quota_.keep_for_predictions(margin * seconds + leaving_s))
    recorder_->quota(step, std::max(quota_.left_s(), 0.0), why);
}

}  // namespace lockstep
