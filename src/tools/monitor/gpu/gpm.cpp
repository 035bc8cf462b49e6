#include "tools/monitor/gpu/gpm.h"

#include <array>
#include <chrono>
#include <cmath>
#include <mutex>

namespace lockstep {
namespace {

constexpr double least_apart_s = 0.1;

struct Wanted {
  GpuMetric metric;
  unsigned id;
  double scale;
};
constexpr std::array<Wanted, 7> wanted{{
    {GpuMetric::sm_active, nvml::gpm_sm, 1},
    {GpuMetric::tensor_active, nvml::gpm_tensor, 1},
    {GpuMetric::dram_active, nvml::gpm_dram, 1},
    {GpuMetric::pcie_sent, nvml::gpm_pcie_sent, bytes_per_mib},
    {GpuMetric::pcie_received, nvml::gpm_pcie_received, bytes_per_mib},
    {GpuMetric::nvlink_sent, nvml::gpm_nvlink_sent, bytes_per_mib},
    {GpuMetric::nvlink_received, nvml::gpm_nvlink_received, bytes_per_mib},
}};

// One lock for the whole process. NVML crashes if two threads take samples at once. This was seen
// in nvmlGpmSampleGet of driver 580.159 on an H200. Other functions of NVML may be called from any
// thread. A thread that waits too long gets no sample, so a hanging driver blocks only one thread.
std::timed_mutex& sampling() {
  static std::timed_mutex mutex;
  return mutex;
}
constexpr std::chrono::milliseconds longest_wait(500);

}  // namespace

Gpm::Gpm(const nvml::Api& api, nvml::Device device)
    : api_(&api), device_(device), before_(nullptr, Free{&api}), after_(nullptr, Free{&api}) {
  nvml::GpmSupport support;
  if (!device || nvml::ask(api.nvmlGpmQueryDeviceSupport, device, &support) != nvml::success ||
      support.supported == 0 || !api.nvmlGpmSampleGet || !api.nvmlGpmMetricsGet)
    return;
  before_ = new_sample();
  after_ = new_sample();
  supported_ = before_ && after_;
}

Gpm::Sample Gpm::new_sample() const {
  nvml::GpmSample sample = nullptr;
  if (nvml::ask(api_->nvmlGpmSampleAlloc, &sample) != nvml::success) sample = nullptr;
  return {sample, Free{api_}};
}

std::vector<std::pair<GpuMetric, Reading>> Gpm::read(double now_s) {
  if (supported_ && (!has_one_ || now_s - taken_s_ >= least_apart_s)) take(now_s);
  if (!supported_ && last_.empty())
    for (const GpuMetric metric :
         {GpuMetric::sm_active, GpuMetric::tensor_active, GpuMetric::dram_active})
      last_.emplace_back(metric, Reading{.state = ReadingState::unsupported,
                                         .source = "GPM",
                                         .why = api_->nvmlGpmQueryDeviceSupport
                                                    ? "it takes a Hopper GPU or newer"
                                                    : "this driver lacks the function"});
  return last_;
}

void Gpm::take(double now_s) {
  const std::unique_lock lock(sampling(), longest_wait);
  const bool got = lock && api_->nvmlGpmSampleGet(device_, after_.get()) == nvml::success;
  nvml::GpmMetrics metrics;
  nvml::Return result = nvml::success;
  if (got && has_one_) {
    metrics.count = wanted.size();
    metrics.before = before_.get();
    metrics.after = after_.get();
    for (std::size_t i = 0; i < wanted.size(); ++i) metrics.metrics[i].metric = wanted[i].id;
    result = api_->nvmlGpmMetricsGet(&metrics);
  }
  last_.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Reading reading{.period_s = has_one_ ? now_s - taken_s_ : 0, .at_s = now_s, .source = "GPM"};
    const nvml::GpmMetric& one = metrics.metrics[i];
    if (!got || result != nvml::success) {
      reading.why = "the driver gave no sample";
    } else if (!has_one_) {
      reading.why = "the first of two samples";
    } else if (one.result == nvml::not_supported) {
      reading.state = ReadingState::unsupported;
      reading.why = "this GPU does not tell";
    } else if (one.result != nvml::success || !std::isfinite(one.value)) {
      reading.why = "the driver gave no number";
    } else {
      reading.state = ReadingState::measured;
      reading.value = one.value * wanted[i].scale;
    }
    last_.emplace_back(wanted[i].metric, reading);
  }
  has_one_ = got;
  taken_s_ = now_s;
  if (got) std::swap(before_, after_);
}

}  // namespace lockstep
