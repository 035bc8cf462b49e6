// Observes the GPUs of a batch and their processes through the driver, while jobs of the batch run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/devices/device.h"
#include "tools/monitor/gpu/gpu_reader.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// Says whether a job's processes were seen on the devices that the job was given.
enum class PlaceVerdict {
  unseen,    // not seen: the job was too short, or used no GPU
  verified,  // seen on its devices
  wrong,     // seen on a device that it was not given, in two samples in a row
  // its devices have processes whose numbers are not valid in this PID namespace, as in a container
  unverifiable,
};
const char* to_string(PlaceVerdict verdict);

// Observations of one attempt.
struct AttemptSight {
  PlaceVerdict verdict = PlaceVerdict::unseen;
  std::string wrong_device;     // for people: "GPU 1"
  std::int64_t peak_bytes = 0;  // highest memory use on one of its devices; 0 if it was not seen
  // Activity of its first device in percent, summed over the samples in which only this attempt ran
  // on that device.
  double activity_sum = 0;
  std::int64_t alone_samples = 0;  // the number of these samples
  double grown_s = 0;              // when peak_bytes last rose, on the monotonic clock
  std::optional<double> activity_percent() const {
    if (alone_samples == 0) return std::nullopt;
    return activity_sum / static_cast<double>(alone_samples);
  }

  // processes on GPUs from before the attempt, as pairs of the GPU's UUID and the process number
  std::set<std::pair<std::string, int>> before;
  int wrong_samples = 0;  // number of the latest consecutive samples that show it on another device
};

// An attempt to be observed.
struct WatchedAttempt {
  std::string mark;                  // value of LOCKSTEP_ATTEMPT in its processes
  std::vector<std::size_t> devices;  // indexes into the devices of the batch
  bool alone = true;                 // no other job of the batch is on these devices
  AttemptSight* sight = nullptr;
};

class DeviceWatch {
 public:
  explicit DeviceWatch(std::vector<Device> devices, double every_s = 0.5);
  DeviceWatch(std::vector<Device> devices, std::shared_ptr<GpuReader> reader, double every_s);
  ~DeviceWatch();

  // Returns the memory of the device with the least memory, or 0 if unknown.
  std::int64_t least_memory_bytes() const;
  // Takes the newest sample without waiting. Returns false if no new sample exists since the last
  // call.
  bool take();
  void begin(AttemptSight& sight) const;  // call it just before the attempt starts
  void look(const std::vector<WatchedAttempt>& attempts) const;
  // The next three read the newest sample for a device of the batch. They return 0 or nothing if
  // the value is unknown.
  std::int64_t used_bytes(std::size_t device) const;
  std::int64_t total_bytes(std::size_t device) const;
  std::optional<double> activity_percent(std::size_t device) const;
  // Whether the device has visible processes that do not belong to a job of any batch.
  bool has_others(std::size_t device) const;

 private:
  struct ListedProcess {
    std::size_t gpu = 0;
    int pid = 0;
    std::int64_t bytes = 0;
    // Whether the process number is surely right. This is so if the process has files of the driver
    // open, or if the driver's process numbers are valid in this PID namespace.
    bool certain = false;
  };
  struct Listed {
    std::map<std::string, std::vector<ListedProcess>> by_mark{};
    // by GPU: whether it has processes whose numbers are not valid in this PID namespace
    std::vector<bool> hidden;
  };
  Listed listed() const;
  void look(const WatchedAttempt& attempt, const Listed& all) const;
  void judge(AttemptSight& sight, bool seen, bool hidden,
             std::optional<std::size_t> elsewhere) const;
  void measure(const WatchedAttempt& attempt, std::int64_t bytes) const;
  const GpuSample* sample(std::size_t device) const;
  std::string name_of(std::size_t gpu) const;

  std::vector<Device> devices_;
  std::shared_ptr<GpuReader> reader_;
  std::vector<std::optional<std::size_t>> gpu_of_;  // index of its GPU in the reader, by device
  std::unique_ptr<Sampler> sampler_;
  std::shared_ptr<const MonitorSample> newest_;
  bool numbers_may_lie_;
};

}  // namespace lockstep
