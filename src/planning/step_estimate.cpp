#include "planning/step_estimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/text/text.h"
#include "planning/compute.h"
#include "planning/memory/memory.h"
#include "planning/words.h"

namespace lockstep {
namespace {

constexpr double share_of_peak = 1.0 / 3;
constexpr double least_compute_s = 2e-3;
constexpr double share_of_link = 0.8;
// The share of a step's last micro-batch in which backward computes and gradients are reduced.
constexpr double share_of_backward = 0.6;
// The share of the exchange that overlaps with nothing, because the last bucket is reduced after
// backward.
constexpr double never_hidden = 0.1;

// The smallest useful speed relative to one device. Each further device must add at least a quarter
// of its speed.
double least_gain(std::int64_t devices) { return 1 + 0.25 * static_cast<double>(devices - 1); }

std::string milliseconds(double seconds) {
  return cat(seconds < 0.1 ? general(seconds * 1e3, 2) : cat(std::llround(seconds * 1e3)), " ms");
}

std::string gpus(const StepEstimate& step) { return count_of(step.devices, "GPU"); }

// The largest micro-batch in rows: the given size, or else the planned one if the plan accumulates.
// If not, the largest that fits into memory.
std::int64_t most_rows(const Plan& plan, const TrainOptions& options) {
  if (options.batch.micro > 0) return options.batch.micro;
  const std::int64_t rows =
      plan.batch.accumulation > 1 ? plan.batch.micro : largest_micro(plan.memory, plan.devices);
  return std::max<std::int64_t>(rows, 1);
}

// The estimate for `global` samples per step, spread evenly over micro-batches of at most `most`
// rows.
StepEstimate with_batch(StepEstimate step, const Plan& plan, const TrainOptions& options,
                        std::int64_t most, std::int64_t global) {
  const std::int64_t per_sample = std::max<std::int64_t>(plan.batch.rows_per_sample, 1);
  const std::int64_t share = (global * per_sample - 1) / step.devices + 1;
  step.accumulation =
      options.batch.accumulation > 0 ? options.batch.accumulation : (share - 1) / most + 1;
  // If the user gives a size, each micro-batch is padded to that size.
  const std::int64_t micro =
      options.batch.micro > 0 ? options.batch.micro : (share - 1) / step.accumulation + 1;
  step.arithmetic_one_s *= static_cast<double>(global) / static_cast<double>(plan.batch.global);
  step.arithmetic_s = step.sample_s * static_cast<double>(micro * step.accumulation) /
                      static_cast<double>(per_sample);
  return step;
}

// The estimate with gradients of half the size.
StepEstimate in_bf16(StepEstimate step) {
  step.exchange_s /= 2;
  step.exchange_bytes /= 2;
  return step;
}

// Each batch is a multiple of this number. If a sample is one row, the devices get equally many
// whole micro-batches.
std::int64_t batch_unit(const StepEstimate& step, const Plan& plan, const TrainOptions& options) {
  if (plan.batch.rows_per_sample > 1) return 1;
  return step.devices * std::max<std::int64_t>(options.batch.micro, 1) *
         std::max<std::int64_t>(options.batch.accumulation, 1);
}

// The smallest batch from which all larger batches gain enough from the devices. Returns nothing if
// no batch does, or if the batch size is fixed. A slightly larger batch may gain less because of
// padding or a further micro-batch. So the search goes down from a batch of 65536, and at least the
// upper half must gain enough.
std::optional<std::int64_t> first_to_pay(const StepEstimate& step, const Plan& plan,
                                         const TrainOptions& options, double least) {
  if (options.batch.micro > 0 && options.batch.accumulation > 0) return std::nullopt;
  constexpr std::int64_t largest = std::int64_t{1} << 16;
  const std::int64_t unit = batch_unit(step, plan, options), most = most_rows(plan, options);
  std::int64_t first = largest / unit + 1;
  while (first > 1 && with_batch(step, plan, options, most, (first - 1) * unit).gain() >= least)
    --first;
  if (first * unit > largest / 2) return std::nullopt;
  return first * unit;
}

// The same, but larger than the planned batch, which does not gain enough. If smaller batches do,
// padding or accumulation of the planned batch may be the reason.
std::optional<std::int64_t> pays_from(const StepEstimate& step, const Plan& plan,
                                      const TrainOptions& options, double least) {
  const auto first = first_to_pay(step, plan, options, least);
  if (!first || *first > plan.batch.global) return first;
  const std::int64_t unit = batch_unit(step, plan, options);
  return (plan.batch.global / unit + 1) * unit;
}

bool has_bf16(const Plan& plan) {
  constexpr int first_major = 8;
  return std::all_of(plan.devices.begin(), plan.devices.end(),
                     [](const Device& device) { return device.compute_major >= first_major; });
}

// Returns, for example, "; with reduce_precision=bf16 they pay from about batch.global=2 on". Empty
// if bf16 does not lower that batch.
std::string bf16_words(const StepEstimate& step, const Plan& plan, const TrainOptions& options,
                       double least) {
  if (options.reduce_precision != ReducePrecision::fp32 || options.exact || !has_bf16(plan))
    return "";
  const StepEstimate halved = in_bf16(step);
  if (halved.gain() >= least) return "; with reduce_precision=bf16 they pay here";
  const auto plain = pays_from(step, plan, options, least);
  const auto earlier = pays_from(halved, plan, options, least);
  if (!earlier || (plain && *plain <= *earlier)) return "";
  return cat("; with reduce_precision=bf16 they pay from about batch.global=", *earlier, " on");
}

void add_exchange(StepEstimate& step, const Plan& plan, const TrainOptions& options,
                  const std::optional<LinkLimit>& link) {
  if (step.devices < 2) return;
  step.knows_exchange = link && link->bytes_per_s > 0 && plan.parameters > 0;
  if (!step.knows_exchange) return;
  const auto devices = static_cast<double>(step.devices);
  step.exchange_bytes = static_cast<double>(plan.parameters) *
                        (options.reduce_precision == ReducePrecision::bf16 ? 2 : 4);
  step.exchange_s =
      2 * (devices - 1) / devices * step.exchange_bytes / (link->bytes_per_s * share_of_link);
}

}  // namespace

double StepEstimate::compute_one_s() const { return std::max(arithmetic_one_s, least_compute_s); }

double StepEstimate::compute_s() const { return std::max(arithmetic_s, least_compute_s); }

double StepEstimate::step_s() const {
  const double backward_s = share_of_backward * compute_s() / static_cast<double>(accumulation);
  const double hidden = std::min(backward_s, (1 - never_hidden) * exchange_s);
  return compute_s() + exchange_s - hidden;
}

std::optional<StepEstimate> estimate_step(const Plan& plan, const TrainOptions& options,
                                          const std::optional<LinkLimit>& link) {
  const std::optional<PeakTimes> peak = times_at_peak(plan);
  if (!peak) return std::nullopt;
  StepEstimate step{.devices = std::ssize(plan.devices),
                    .fastest = peak->fastest,
                    .arithmetic_one_s = peak->one_s / share_of_peak,
                    .arithmetic_s = peak->all_s / share_of_peak,
                    .sample_s = peak->sample_s / share_of_peak,
                    .accumulation = plan.batch.accumulation};
  add_exchange(step, plan, options, link);
  return step;
}

std::string gain_text(const StepEstimate& step, const LinkLimit& link) {
  if (step.devices < 2 || !step.knows_exchange) return "";
  return cat(gpus(step), ": ", general(step.gain(), 2), " x the speed of one (estimated",
             link.is_assumed ? cat(", over ", link.kind, ", which is assumed") : "", ")");
}

std::string gain_warning(const StepEstimate& step, const Plan& plan, const TrainOptions& options,
                         const LinkLimit& link, const std::string& alone) {
  const double least = least_gain(step.devices);
  if (step.devices < 2 || !step.knows_exchange || step.gain() >= least) return "";
  const std::optional<std::int64_t> first = pays_from(step, plan, options, least);
  const std::string at = cat(" at batch.global = ", plan.batch.global);
  const std::string verdict =
      link.may_be_nvlink
          ? cat("whether ", gpus(step), " pay", at,
                " depends on what joins them, which is not known; over PCIe they do not")
          : cat("warning: ", gpus(step), step.gain() < 1 ? " do not pay" : " hardly pay", at);
  return cat(verdict, ": computing a step takes about ", milliseconds(step.compute_s()),
             " on them instead of ", milliseconds(step.compute_one_s()), " on one, but adding up ",
             format_bytes(step.exchange_bytes), " of gradients over ", link.kind,
             link.is_assumed ? ", which is assumed," : "", " takes about ",
             milliseconds(step.exchange_s), " (estimated)",
             first ? cat("; ", link.may_be_nvlink ? "there " : "",
                         "they pay from about batch.global=", *first, " on")
                   : "",
             bf16_words(step, plan, options, least),
             link.may_be_nvlink ? ""
             : step.gain() < 1
                 ? cat("; one alone is faster at this batch: --devices ", alone)
                 : cat("; one alone is about as fast at this batch: --devices ", alone));
}

}  // namespace lockstep
