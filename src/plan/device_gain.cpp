#include "plan/device_gain.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "plan/words.h"

namespace lockstep {
namespace {

constexpr double share_of_peak = 0.5;  // of the arithmetic of a large model, as measured
constexpr double share_of_link = 0.8;
constexpr double share_of_backward = 0.6;  // of a step, during which gradients are added up
constexpr double never_hidden = 0.1;       // of the exchange: its last bucket

// Of so many devices so many times as fast as one: a quarter of what each adds.
double least_gain(std::size_t devices) { return 1 + 0.25 * static_cast<double>(devices - 1); }

std::string milliseconds(double seconds) {
  return cat(seconds < 0.1 ? general(seconds * 1e3, 2) : cat(std::llround(seconds * 1e3)), " ms");
}

// Of so many rows the share of the device that has most of them.
double busiest_share(std::int64_t rows, std::int64_t devices) {
  return static_cast<double>((rows - 1) / devices + 1) / static_cast<double>(rows);
}

// The same with `times` as many samples in a step.
DeviceGain larger(DeviceGain gain, const Plan& plan, std::int64_t times) {
  gain.compute_one_s *= static_cast<double>(times);
  gain.compute_s =
      gain.compute_one_s * busiest_share(plan.batch.rows() * times, std::ssize(plan.devices));
  return gain;
}

// The same with gradients of half the bytes.
DeviceGain in_bf16(DeviceGain gain) {
  gain.exchange_s /= 2;
  gain.exchange_bytes /= 2;
  return gain;
}

// How many times the batch must be for the devices to pay; nothing: no batch helps.
std::optional<std::int64_t> times_to_pay(const DeviceGain& gain, const Plan& plan, double least) {
  constexpr std::int64_t most_times = 1024;
  for (std::int64_t times = 1; times <= most_times; times *= 2)
    if (larger(gain, plan, times).gain() >= least) return times;
  return std::nullopt;
}

bool has_bf16(const Plan& plan) {
  constexpr int first_major = 8;
  return std::all_of(plan.devices.begin(), plan.devices.end(),
                     [](const Device& device) { return device.compute_major >= first_major; });
}

// "; with reduce_precision=bf16 they pay from about batch.global=2 on", where that is earlier.
std::string bf16_words(const DeviceGain& gain, const Plan& plan, const TrainOptions& options,
                       double least) {
  if (options.reduce_precision != ReducePrecision::fp32 || options.exact || !has_bf16(plan))
    return "";
  const auto plain = times_to_pay(gain, plan, least);
  const auto halved = times_to_pay(in_bf16(gain), plan, least);
  if (!halved || (plain && *plain <= *halved)) return "";
  return cat(
      "; with reduce_precision=bf16 they pay ",
      *halved == 1 ? "here" : cat("from about batch.global=", plan.batch.global * *halved, " on"));
}

}  // namespace

double DeviceGain::step_s() const {
  const double backward_s = share_of_backward * compute_s / static_cast<double>(accumulation);
  const double hidden = std::min(backward_s, (1 - never_hidden) * exchange_s);
  return compute_s + exchange_s - hidden;
}

std::optional<DeviceGain> device_gain(const Plan& plan, const TrainOptions& options,
                                      const std::optional<LinkLimit>& link) {
  const auto devices = static_cast<double>(plan.devices.size());
  const ComputePlan& compute = plan.compute;
  if (plan.devices.size() < 2 || !link || link->bytes_per_s <= 0 || plan.parameters <= 0 ||
      compute.flops_per_step <= 0 || compute.peak_flops <= 0)
    return std::nullopt;
  const double one_s = compute.flops_per_step / (compute.peak_flops / devices * share_of_peak);
  const double bytes = static_cast<double>(plan.parameters) *
                       (options.reduce_precision == ReducePrecision::bf16 ? 2 : 4);
  return DeviceGain{
      .compute_one_s = one_s,
      .compute_s = one_s * busiest_share(plan.batch.rows(), std::ssize(plan.devices)),
      .exchange_s = 2 * (devices - 1) / devices * bytes / (link->bytes_per_s * share_of_link),
      .exchange_bytes = bytes,
      .accumulation = plan.batch.accumulation};
}

std::string device_gain_note(const Plan& plan, const TrainOptions& options,
                             const std::optional<LinkLimit>& link) {
  const std::optional<DeviceGain> gain = device_gain(plan, options, link);
  const double least = least_gain(plan.devices.size());
  if (!gain || gain->gain() >= least) return "";
  const std::optional<std::int64_t> times = times_to_pay(*gain, plan, least);
  const std::string gpus = count_of(static_cast<std::int64_t>(plan.devices.size()), "GPU");
  const std::string at = cat(" at batch.global = ", plan.batch.global);
  const std::string verdict =
      link->may_be_nvlink
          ? cat("whether ", gpus, " pay", at,
                " depends on what joins them, which is not known; over PCIe they do not")
          : cat("warning: ", gpus, gain->gain() < 1 ? " do not pay" : " hardly pay", at);
  return cat(verdict, ": the arithmetic of a step takes about ", milliseconds(gain->compute_s),
             " on them instead of ", milliseconds(gain->compute_one_s), " on one, but adding up ",
             format_bytes(gain->exchange_bytes), " of gradients over ", link->kind,
             link->is_assumed ? ", which is assumed," : "", " takes about ",
             milliseconds(gain->exchange_s), " (estimated)",
             times ? cat("; ", link->may_be_nvlink ? "there " : "",
                         "they pay from about batch.global=", plan.batch.global * *times, " on")
                   : "",
             bf16_words(*gain, plan, options, least),
             link->may_be_nvlink ? ""
             : gain->gain() < 1  ? "; one alone is faster at this batch: --devices 0"
                                 : "; one alone is about as fast at this batch: --devices 0");
}

}  // namespace lockstep
