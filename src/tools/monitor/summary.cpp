#include "tools/monitor/summary.h"

#include <algorithm>

#include "core/base/text/columns.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr double idle_percent = 1;  // a GPU with less SM activity is idle

bool is_measured(const Reading& reading) { return reading.state == ReadingState::measured; }

}  // namespace

void MonitorSummary::Series::add(const Reading& reading) {
  unsupported = reading.state == ReadingState::unsupported;
  // the reading is not new
  if (!is_measured(reading) || (count > 0 && reading.at_s <= last_s)) return;
  if (count == 0) {
    first = reading.value;
    first_s = reading.at_s;
    most = reading.value;
  }
  last = reading.value;
  last_s = reading.at_s;
  most = std::max(most, reading.value);
  sum += reading.value;
  ++count;
}

MonitorSummary::MonitorSummary(std::vector<GpuInfo> gpus)
    : gpus_(std::move(gpus)), of_(gpus_.size()) {}

void MonitorSummary::add(const MonitorSample& sample) {
  if (samples_++ == 0) begin_s_ = sample.at_s;
  end_s_ = sample.at_s + sample.reading_s;
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const GpuSample& gpu = sample.gpus.at(i);
    OfGpu& all = of_[i];
    for (std::size_t m = 0; m < metric_count; ++m) all.series[m].add(gpu.readings[m]);
    const Reading& sm = gpu[GpuMetric::sm_active];
    const Reading& judge = sm.state == ReadingState::unsupported ? gpu[GpuMetric::gpu_busy] : sm;
    if (!is_measured(judge)) continue;
    ++all.judged;
    if (judge.value < idle_percent) ++all.idle;
  }
}

std::string MonitorSummary::mean(const OfGpu& gpu, GpuMetric metric, double scale,
                                 int digits) const {
  const Series& series = gpu.series[static_cast<std::size_t>(metric)];
  if (series.count == 0) return series.unsupported ? "n/a" : "-";
  return fixed(series.sum / static_cast<double>(series.count) * scale, digits);
}

std::string MonitorSummary::most(const OfGpu& gpu, GpuMetric metric, double scale,
                                 int digits) const {
  const Series& series = gpu.series[static_cast<std::size_t>(metric)];
  if (series.count == 0) return series.unsupported ? "n/a" : "-";
  return fixed(series.most * scale, digits);
}

// The energy according to the GPU's counter, which is read rarely. For the remaining time, mean
// power is multiplied by time.
std::string MonitorSummary::energy(const OfGpu& gpu) {
  constexpr double exact_share = 0.95;  // share of the time that the counter must cover
  const Series& counter = gpu.series[static_cast<std::size_t>(GpuMetric::energy)];
  const Series& power = gpu.series[static_cast<std::size_t>(GpuMetric::power)];
  const double time_s = power.count > 1 ? power.last_s - power.first_s : 0;
  const double counted_s = counter.count > 1 ? counter.last_s - counter.first_s : 0;
  if (time_s <= 0 && counted_s <= 0) return counter.unsupported && power.unsupported ? "n/a" : "-";
  double joules = counter.count > 1 ? counter.last - counter.first : 0;
  if (time_s > counted_s)
    joules += power.sum / static_cast<double>(power.count) * (time_s - counted_s);
  return cat(counted_s >= exact_share * time_s ? "" : "~", fixed(joules / 1000, 2), " kJ");
}

std::string MonitorSummary::text() const {
  std::vector<std::vector<std::string>> rows{{"GPU", "SM % mean", "peak", "busy % mean", "tensor %",
                                              "idle", "memory GiB peak", "power W mean", "peak",
                                              "C peak", "energy", "name"}};
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const OfGpu& gpu = of_[i];
    const std::string idle =
        gpu.judged == 0
            ? "-"
            : cat(fixed(100.0 * static_cast<double>(gpu.idle) / static_cast<double>(gpu.judged), 0),
                  " %");
    rows.push_back({cat(gpus_[i].index), mean(gpu, GpuMetric::sm_active, 1, 1),
                    most(gpu, GpuMetric::sm_active, 1, 0), mean(gpu, GpuMetric::gpu_busy, 1, 1),
                    mean(gpu, GpuMetric::tensor_active, 1, 1), idle,
                    most(gpu, GpuMetric::memory_used, gib_per_byte, 1),
                    mean(gpu, GpuMetric::power, 1, 0), most(gpu, GpuMetric::power, 1, 0),
                    most(gpu, GpuMetric::temperature, 1, 0), energy(gpu), gpus_[i].name});
  }
  return cat(samples_, samples_ == 1 ? " sample in " : " samples in ", fixed(end_s_ - begin_s_, 1),
             " s\n", columns(rows, Flush::right));
}

}  // namespace lockstep
