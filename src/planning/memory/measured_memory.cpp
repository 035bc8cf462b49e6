#include "planning/memory/measured_memory.h"

#include "core/base/check.h"
#include "planning/batch/exact_sum.h"
#include "planning/batch/micro_batch.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep {
namespace {

// Options that do not change memory, by whole key or by its beginning.
constexpr std::array<std::string_view, 23> costs_nothing = {"seed",
                                                            "preset",
                                                            "on_nan",
                                                            "restart",
                                                            "batch.",
                                                            "schedule.",
                                                            "check.",
                                                            "stop.",
                                                            "checkpoint.",
                                                            "run.",
                                                            "log.",
                                                            "profile.",
                                                            "data.shuffle",
                                                            "data.threads",
                                                            "eval.every_steps",
                                                            "eval.at_start",
                                                            "optimizer.lr",
                                                            "optimizer.weight_decay",
                                                            "optimizer.beta",
                                                            "optimizer.eps",
                                                            "optimizer.scale_lr",
                                                            "optimizer.base",
                                                            "optimizer.decay_"};

bool counts(std::string_view key) {
  return std::none_of(costs_nothing.begin(), costs_nothing.end(),
                      [&](std::string_view free) { return key.starts_with(free); });
}

}  // namespace

nlohmann::json memory_key(const RunSetup& setup) {
  nlohmann::json options = nlohmann::json::object();
  const nlohmann::json recipe = setup.options->table.to_json();
  for (const auto& [key, value] : recipe.items())
    if (!key.starts_with("predict.")) options[key] = value;
  const nlohmann::json engine = setup.train->table.to_json();
  for (const auto& [key, value] : engine.items())
    if (counts(key)) options[key] = value;
  const Facts& facts = setup.prepared.facts;
  return {{"recipe", setup.recipe},
          {"plugin", setup.plugin},
          {"options", std::move(options)},
          {"parameters", facts.parameters},
          {"frozen_parameters", facts.frozen_parameters},
          {"units_per_sample", facts.units_per_sample},
          {"rows_per_sample", facts.rows_per_sample},
          {"flops_per_sample", facts.flops_per_sample}};
}

BatchPlan batch_to_try(const BatchPlan& whole, std::int64_t micro) {
  constexpr std::int64_t most_accumulation = 2;
  const std::int64_t accumulation =
      std::min(most_accumulation, (whole.rows_per_rank() - 1) / micro + 1);
  BatchPlan tried = whole;
  const std::int64_t samples = whole.world_size * micro * accumulation / whole.rows_per_sample;
  tried.global = std::clamp<std::int64_t>(samples, 1, whole.global);
  return with_micro(tried, std::min(micro, tried.rows_per_rank()));
}

double bytes_not_tried(const Plan& tried, const BatchPlan& whole, std::int64_t parameters) {
  if (!tried.exact) return 0;
  const std::int64_t micro = tried.batch.micro;
  const ExactSum all =
      plan_exact_sum(whole.world_size, micro, whole.rows_per_rank() / micro, parameters);
  return 4.0 * static_cast<double>((all.buffers - tried.exact->buffers) * parameters);
}

MicroSearch::MicroSearch(const Plan& plan, double available_bytes)
    : MicroSearch(plan.batch, plan.memory.fixed_bytes, available_bytes) {}

MicroSearch::MicroSearch(std::int64_t share, std::int64_t first, double fixed_bytes,
                         double available_bytes)
    : MicroSearch({.micro = first, .global = share}, fixed_bytes, available_bytes) {}

MicroSearch::MicroSearch(const BatchPlan& batch, double fixed_bytes, double available_bytes)
    : first_(batch.micro), fixed_bytes_(fixed_bytes), available_bytes_(available_bytes) {
  LOCKSTEP_CHECK(batch.global > 0);
  for (std::int64_t limit = batch.rows_per_rank(); limit > 0; limit = divisors_.back() - 1)
    divisors_.push_back(fitting_micro(batch, limit));
  std::reverse(divisors_.begin(), divisors_.end());
}

std::optional<std::int64_t> MicroSearch::next() const {
  std::vector<std::int64_t> open;
  for (const std::int64_t divisor : divisors_)
    if (divisor > good_ && (bad_ == 0 || divisor < bad_)) open.push_back(divisor);
  if (open.empty()) return std::nullopt;
  if (good_ == 0 && bad_ != 0 && !predicted_) return open[open.size() / 2];
  const double target = predicted_ ? *predicted_ : static_cast<double>(first_);
  const auto above = std::upper_bound(
      open.begin(), open.end(), target,
      [](double limit, std::int64_t divisor) { return limit < static_cast<double>(divisor); });
  if (above != open.begin()) return *(above - 1);
  // By the measurements, not even the next larger micro-batch fits. If none has fitted so far, the
  // smallest is tried.
  if (good_ > 0) return std::nullopt;
  return open.front();
}

void MicroSearch::tried(std::int64_t micro, std::optional<double> peak_bytes) {
  const bool fits = peak_bytes && *peak_bytes <= available_bytes_;
  if (fits && micro > good_) {
    good_ = micro;
    good_peak_ = *peak_bytes;
  }
  if (!fits && (bad_ == 0 || micro < bad_)) bad_ = micro;
  if (!peak_bytes) return;
  // Two measurements replace the estimate of the fixed part.
  double from_bytes = fixed_bytes_;
  std::int64_t from = 0;
  if (last_micro_ != 0 && last_micro_ != micro &&
      (*peak_bytes > last_peak_) == (micro > last_micro_)) {
    from = last_micro_;
    from_bytes = last_peak_;
  }
  const double per_sample = (*peak_bytes - from_bytes) / static_cast<double>(micro - from);
  if (per_sample > 0)
    predicted_ = static_cast<double>(micro) + (available_bytes_ - *peak_bytes) / per_sample;
  last_micro_ = micro;
  last_peak_ = *peak_bytes;
}

}  // namespace lockstep
