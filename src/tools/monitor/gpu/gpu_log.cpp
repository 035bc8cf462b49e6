#include "tools/monitor/gpu/gpu_log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/process/signal_mask.h"
#include "core/base/text/text.h"
#include "tools/monitor/process_info.h"
#include "tools/monitor/sampler.h"

namespace lockstep {
namespace {

struct Mean {
  double sum = 0;
  long long count = 0;
  void add(const Reading& reading) {
    if (reading.state != ReadingState::measured) return;
    sum += reading.value;
    ++count;
  }
  std::optional<double> value() const {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }
};

// Decides which processes are this process or its descendants. /proc is read only for pids that are
// new.
class OwnProcesses {
 public:
  std::optional<bool> operator()(int pid) {
    const auto [known, is_new] = own_.try_emplace(pid, false);
    if (is_new) known->second = process_tree(getpid()).contains(pid);
    // If the driver lists one of our pids, its pids are those of this namespace.
    if (known->second) comparable_ = true;
    return comparable_ ? std::optional(known->second) : std::nullopt;
  }

 private:
  std::map<int, bool> own_;
  bool comparable_ = !may_have_numbers_of_host();
};

// Positions of the run's devices in the reader's list of GPUs, each once.
std::vector<std::size_t> positions_of(const std::vector<Device>& devices,
                                      const std::vector<GpuInfo>& gpus) {
  std::vector<std::size_t> positions;
  for (const Device& device : devices)
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      // A MIG instance has a UUID of its own, but the address of its GPU.
      const bool same = gpus[i].uuid == device.uuid ||
                        (!device.pci_bus_id.empty() && gpus[i].pci_bus_id == device.pci_bus_id);
      if (device.kind == DeviceKind::cuda && same &&
          std::find(positions.begin(), positions.end(), i) == positions.end())
        positions.push_back(i);
    }
  return positions;
}

}  // namespace

struct GpuLog::Shared {
  GpuLogSpec spec;
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false, ended = false, counts = false;
  std::vector<GpuInfo> gpus;
  std::vector<Mean> busy, sm;
  long long samples = 0;
  std::string fault;
  std::thread thread;

  void run();
  void record();
  void attempt(const std::function<void()>& action);
  void take(const MonitorSample& sample);
  bool stopping() {
    const std::lock_guard lock(mutex);
    return stop;
  }
};

// Runs the action, and keeps an error for the end. The newest error is the most informative.
void GpuLog::Shared::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex);
    fault = error.what();
  }
}

void GpuLog::Shared::take(const MonitorSample& sample) {
  const std::lock_guard lock(mutex);
  if (!counts) return;
  ++samples;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    busy[i].add(sample.gpus[i][GpuMetric::gpu_busy]);
    sm[i].add(sample.gpus[i][GpuMetric::sm_active]);
  }
}

void GpuLog::Shared::record() {
  const std::shared_ptr<GpuReader> reader = spec.make_reader();
  const std::vector<std::size_t> positions = positions_of(spec.devices, reader->gpus());
  if (positions.empty())
    throw Error(reader->why_absent().empty() ? "NVML does not list the GPUs of this run"
                                             : reader->why_absent());
  std::vector<GpuInfo> chosen;
  for (const std::size_t position : positions) chosen.push_back(reader->gpus()[position]);
  {
    const std::lock_guard lock(mutex);
    gpus = chosen;
    busy.resize(chosen.size());
    sm.resize(chosen.size());
  }
  std::optional<GpuLogFile> file;
  constexpr double least_s = 0.1, look_up_s = 0.1, hanging_s = 0.5;
  const double every_s = std::max(spec.every_s, least_s);
  attempt([&] { file.emplace(spec.file, every_s, spec.limit_bytes); });
  OwnProcesses own;
  Sampler sampler(reader, positions, every_s);
  for (long long seen = 0; !stopping();) {
    const std::shared_ptr<const MonitorSample> sample = sampler.next(seen, look_up_s);
    if (!sample) continue;
    seen = sample->number;
    take(*sample);
    attempt([&] {
      if (file && !file->append(gpu_log_lines(chosen, *sample, [&](int pid) { return own(pid); })))
        throw Error(cat("cannot write it: ", errno_text(errno)));
    });
  }
  if (sampler.hanging_s() > hanging_s) sampler.abandon();
}

void GpuLog::Shared::run() {
  attempt([&] { record(); });
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

GpuLog::GpuLog(GpuLogSpec spec) : shared_(std::make_shared<Shared>()) {
  shared_->spec = std::move(spec);
  // Signals must reach the threads that wait for them.
  const BlockedSignals blocked;
  shared_->thread = std::thread([shared = shared_] { shared->run(); });
}

GpuLog::~GpuLog() { stop(); }

void GpuLog::begin_counting() {
  const std::lock_guard lock(shared_->mutex);
  shared_->counts = true;
}

std::vector<GpuActivitySum> GpuLog::sums() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<GpuActivitySum> sums;
  for (std::size_t i = 0; i < shared_->gpus.size(); ++i)
    sums.push_back({.index = shared_->gpus[i].index,
                    .busy = shared_->busy[i].sum,
                    .sm = shared_->sm[i].sum,
                    .busy_samples = shared_->busy[i].count,
                    .sm_samples = shared_->sm[i].count});
  return sums;
}

std::vector<GpuActivity> activity_between(const std::vector<GpuActivitySum>& before,
                                          const std::vector<GpuActivitySum>& after) {
  std::vector<GpuActivity> activities;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const GpuActivitySum from = i < before.size() ? before[i] : GpuActivitySum{};
    const Mean busy{.sum = after[i].busy - from.busy,
                    .count = after[i].busy_samples - from.busy_samples};
    const Mean sm{.sum = after[i].sm - from.sm, .count = after[i].sm_samples - from.sm_samples};
    activities.push_back({.index = after[i].index,
                          .busy_percent = busy.value(),
                          .sm_percent = sm.value(),
                          .samples = std::max(busy.count, sm.count)});
  }
  return activities;
}

GpuLogResult GpuLog::stop() {
  // If stop() was called before, the thread has ended or was left behind, so there is no wait.
  const std::chrono::seconds patience{shared_->thread.joinable() ? 2 : 0};
  GpuLogResult result;
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  const bool ended = shared_->changed.wait_for(lock, patience, [&] { return shared_->ended; });
  result.fault = ended ? shared_->fault : "the driver does not answer";
  for (std::size_t i = 0; i < shared_->gpus.size(); ++i)
    result.gpus.push_back({.index = shared_->gpus[i].index,
                           .busy_percent = shared_->busy[i].value(),
                           .sm_percent = shared_->sm[i].value(),
                           .samples = shared_->samples});
  lock.unlock();
  if (shared_->thread.joinable()) {
    if (ended)
      shared_->thread.join();
    else
      shared_->thread.detach();
  }
  return result;
}

namespace {

constexpr double idle_below_percent = 10;

std::string percent(double value) { return fixed(value, 0) + " %"; }

// Whether a GPU computes little, by the value that it reports.
bool idled(const GpuActivity& gpu) {
  return gpu.busy_percent.value_or(gpu.sm_percent.value_or(100)) < idle_below_percent;
}

std::string activity_of(const GpuActivity& gpu) {
  const std::string name = cat("GPU ", gpu.index, " ");
  if (!gpu.busy_percent && !gpu.sm_percent) return name + "does not tell";
  if (!gpu.busy_percent) return cat(name, "SMs ", percent(*gpu.sm_percent));
  return cat(name, "busy ", percent(*gpu.busy_percent),
             gpu.sm_percent ? cat(" (SMs ", percent(*gpu.sm_percent), ")") : "");
}

}  // namespace

std::string gpu_activity_text(const GpuLogResult& result, const std::filesystem::path& file) {
  constexpr long long least_samples = 3;
  std::vector<std::string> lines, each, idle;
  for (const GpuActivity& gpu : result.gpus) {
    if (gpu.samples == 0) continue;
    each.push_back(activity_of(gpu));
    if (gpu.samples >= least_samples && idled(gpu)) idle.push_back(cat("GPU ", gpu.index));
  }
  if (!each.empty())
    lines.push_back(cat("mean activity: ", join(each, ", "), "; over time in ", file.string()));
  if (!idle.empty())
    lines.push_back(cat("warning: ", join(idle, " and "), idle.size() == 1 ? " was" : " were",
                        " idle for most of the run: lockstep doctor says why, while it runs"));
  if (!result.fault.empty())
    lines.push_back(cat("note: ", file.string(), " is not complete: ", result.fault));
  return join(lines, "\n");
}

}  // namespace lockstep
