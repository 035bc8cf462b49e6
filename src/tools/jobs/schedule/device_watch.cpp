#include "tools/jobs/schedule/device_watch.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/monitor/process_info.h"

namespace lockstep {
namespace {

constexpr double hanging_s = 0.5;
constexpr int wrong_in_a_row = 2;  // a job is misplaced after this number of samples in a row

std::optional<double> measured(const GpuSample& sample, GpuMetric metric) {
  const Reading& reading = sample[metric];
  if (reading.state != ReadingState::measured) return std::nullopt;
  return reading.value;
}

std::int64_t bytes(const GpuSample* sample, GpuMetric metric) {
  return sample == nullptr ? 0 : static_cast<std::int64_t>(measured(*sample, metric).value_or(0));
}

// The activity of the device's SMs. GPUs before Hopper only report whether anything ran.
std::optional<double> activity(const GpuSample& sample) {
  const auto sm = measured(sample, GpuMetric::sm_active);
  return sm ? sm : measured(sample, GpuMetric::gpu_busy);
}

}  // namespace

const char* to_string(PlaceVerdict verdict) {
  constexpr const char* names[] = {"unseen", "verified", "wrong", "unverifiable"};
  return names[static_cast<std::size_t>(verdict)];
}

DeviceWatch::DeviceWatch(std::vector<Device> devices, double every_s)
    : DeviceWatch(std::move(devices), make_nvml_reader(), every_s) {}

DeviceWatch::DeviceWatch(std::vector<Device> devices, std::shared_ptr<GpuReader> reader,
                         double every_s)
    : devices_(std::move(devices)),
      reader_(std::move(reader)),
      numbers_may_lie_(may_have_numbers_of_host()) {
  const std::vector<GpuInfo>& gpus = reader_->gpus();
  for (const Device& device : devices_) {
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const GpuInfo& gpu) {
      // A MIG instance has a UUID of its own, but the address of its GPU.
      return gpu.uuid == device.uuid ||
             (!device.pci_bus_id.empty() && gpu.pci_bus_id == device.pci_bus_id);
    });
    gpu_of_.push_back(found == gpus.end()
                          ? std::nullopt
                          : std::optional(static_cast<std::size_t>(found - gpus.begin())));
  }
  if (gpus.empty()) return;
  std::vector<std::size_t> all(gpus.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  sampler_ = std::make_unique<Sampler>(reader_, std::move(all), every_s);
  newest_ = sampler_->next(0, 2 * every_s);
}

DeviceWatch::~DeviceWatch() {
  if (sampler_ && sampler_->hanging_s() > hanging_s) sampler_->abandon();
}

const GpuSample* DeviceWatch::sample(std::size_t device) const {
  if (!newest_ || !gpu_of_[device] || *gpu_of_[device] >= newest_->gpus.size()) return nullptr;
  return &newest_->gpus[*gpu_of_[device]];
}

std::string DeviceWatch::name_of(std::size_t gpu) const {
  return cat("GPU ", reader_->gpus()[gpu].index);
}

std::int64_t DeviceWatch::used_bytes(std::size_t device) const {
  return bytes(sample(device), GpuMetric::memory_used);
}

std::int64_t DeviceWatch::total_bytes(std::size_t device) const {
  // A MIG instance reports its own memory, not that of the whole GPU.
  const std::int64_t whole = bytes(sample(device), GpuMetric::memory_total);
  const auto own = static_cast<std::int64_t>(devices_[device].memory_bytes);
  return own > 0 && (whole == 0 || own < whole) ? own : whole;
}

std::int64_t DeviceWatch::least_memory_bytes() const {
  std::int64_t least = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (const std::int64_t total = total_bytes(i); least == 0 || total < least) least = total;
  return least;
}

std::optional<double> DeviceWatch::activity_percent(std::size_t device) const {
  const GpuSample* const found = sample(device);
  return found == nullptr ? std::nullopt : activity(*found);
}

bool DeviceWatch::has_others(std::size_t device) const {
  const GpuSample* const found = sample(device);
  return found != nullptr && std::any_of(found->processes.begin(), found->processes.end(),
                                         [](const GpuProcess& process) {
                                           return process_info(process.pid) &&
                                                  attempt_of(process.pid).empty();
                                         });
}

bool DeviceWatch::take() {
  if (!sampler_) return false;
  auto sample = sampler_->next(newest_ ? newest_->number : 0, 0);
  if (!sample) return false;
  newest_ = std::move(sample);
  return true;
}

void DeviceWatch::begin(AttemptSight& sight) const {
  sight.before.clear();
  if (!newest_) return;
  for (std::size_t gpu = 0; gpu < newest_->gpus.size(); ++gpu)
    for (const GpuProcess& process : newest_->gpus[gpu].processes)
      sight.before.emplace(reader_->gpus()[gpu].uuid, process.pid);
}

// The listed processes of attempts, by their mark. Also the GPUs that have processes which are
// invisible here.
DeviceWatch::Listed DeviceWatch::listed() const {
  Listed result{.hidden = std::vector<bool>(newest_->gpus.size())};
  for (std::size_t gpu = 0; gpu < newest_->gpus.size(); ++gpu)
    for (const GpuProcess& process : newest_->gpus[gpu].processes) {
      const std::string mark = attempt_of(process.pid);
      if (mark.empty()) {
        result.hidden[gpu] = result.hidden[gpu] || !process_info(process.pid);
        continue;
      }
      result.by_mark[mark].push_back(
          {.gpu = gpu,
           .pid = process.pid,
           .bytes = static_cast<std::int64_t>(process.memory_bytes.value_or(0)),
           .certain = !numbers_may_lie_ || has_gpu_files(process.pid).value_or(false)});
    }
  return result;
}

void DeviceWatch::look(const std::vector<WatchedAttempt>& attempts) const {
  if (!newest_) return;
  const Listed all = listed();
  for (const WatchedAttempt& attempt : attempts) look(attempt, all);
}

void DeviceWatch::look(const WatchedAttempt& attempt, const Listed& all) const {
  std::map<std::size_t, std::int64_t> own_bytes;  // key: GPU
  bool hidden = false, seen = false;
  for (const std::size_t device : attempt.devices) {
    if (!gpu_of_[device]) continue;
    own_bytes.emplace(*gpu_of_[device], 0);
    hidden = hidden || all.hidden[*gpu_of_[device]];
  }
  std::optional<std::size_t> elsewhere;
  if (const auto found = all.by_mark.find(attempt.mark); found != all.by_mark.end())
    for (const ListedProcess& process : found->second) {
      if (const auto own = own_bytes.find(process.gpu); own != own_bytes.end()) {
        own->second += process.bytes;
        seen = true;
      } else if (process.certain && !attempt.sight->before.contains(
                                        {reader_->gpus()[process.gpu].uuid, process.pid})) {
        elsewhere = process.gpu;
      }
    }
  judge(*attempt.sight, seen, hidden, elsewhere);
  if (!seen && !hidden) return;
  std::int64_t bytes = 0;
  for (const auto& [gpu, used] : own_bytes) bytes = std::max(bytes, used);
  // If the driver lists no processes, the memory in use is attributed to the device's only job.
  if (bytes == 0 && attempt.alone)
    for (const std::size_t device : attempt.devices) bytes = std::max(bytes, used_bytes(device));
  measure(attempt, bytes);
}

void DeviceWatch::judge(AttemptSight& sight, bool seen, bool hidden,
                        std::optional<std::size_t> elsewhere) const {
  sight.wrong_samples = elsewhere ? sight.wrong_samples + 1 : 0;
  if (sight.wrong_samples >= wrong_in_a_row) {
    sight.verdict = PlaceVerdict::wrong;
    sight.wrong_device = name_of(*elsewhere);
  } else if (seen && sight.verdict != PlaceVerdict::wrong) {
    sight.verdict = PlaceVerdict::verified;
  } else if (hidden && sight.verdict == PlaceVerdict::unseen) {
    sight.verdict = PlaceVerdict::unverifiable;
  }
}

void DeviceWatch::measure(const WatchedAttempt& attempt, std::int64_t bytes) const {
  AttemptSight& sight = *attempt.sight;
  if (bytes > sight.peak_bytes) {
    sight.peak_bytes = bytes;
    sight.grown_s = system_clock().now_s();
  }
  if (!attempt.alone || attempt.devices.empty()) return;
  if (const auto active = activity_percent(attempt.devices[0])) {
    sight.activity_sum += *active;
    ++sight.alone_samples;
  }
}

}  // namespace lockstep
