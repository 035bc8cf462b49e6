#include "training/trainer/stopping/due.h"

#include "planning/options/interval.h"

namespace lockstep {

void StopDecision::ask(RankReport& report, int rank, double more_s) const {
  report.stop_signal = stop_signal().empty() ? 0 : 1;
  report.stop_quota = rank == 0 && quota_.over(more_s) ? 1 : 0;
}

void StopDecision::hear(const StepResult& result) {
  if (stops_ || (result.stop_signal == 0 && result.stop_quota == 0)) return;
  if (result.stop_signal == 0) return stop_by_quota();
  stops_ = true;
  const std::string own = stop_signal();
  reason_ = own.empty() ? "a signal to another rank" : own;
}

void StopDecision::stop_by_quota() {
  stops_ = by_quota_ = true;
  reason_ = quota_.reason();
}

void StopDecision::finish_early(const std::string& why) {
  if (stops_) return;
  stops_ = early_ = true;
  reason_ = why;
}

void SaveSchedule::start(std::int64_t step) {
  saved_step_ = step;
  saved_at_s_ = clock_.now_s();
}

void SaveSchedule::ask(RankReport& report, int rank) const {
  const double every_s = options_.checkpoint.every.seconds;
  const bool over = every_s > 0 && clock_.now_s() - saved_at_s_ >= every_s;
  report.save = rank == 0 && over ? 1 : 0;
}

void SaveSchedule::hear(const StepResult& result) {
  // The last checkpoint has fulfilled a request that came before it.
  if (result.save > 0 && result.step > saved_step_) requested_ = true;
}

bool SaveSchedule::due(std::int64_t step) const {
  return saved_step_ != step &&
         (requested_ || checkpoint_interval(options_, steps_per_epoch_).due(step));
}

void SaveSchedule::saved(std::int64_t step) {
  saved_step_ = step;
  requested_ = false;
  saved_at_s_ = clock_.now_s();
}

}  // namespace lockstep
