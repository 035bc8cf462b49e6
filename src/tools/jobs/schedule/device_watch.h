// Observes through the driver the GPUs of a batch and their processes while its jobs run.
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

// Whether a job's processes were seen where they were placed.
enum class PlaceVerdict {
  unseen,        // too short to tell, or no GPU was used
  verified,      // on its devices, and on no other
  wrong,         // on another device
  unverifiable,  // the driver's process numbers are not valid here
};
const char* to_string(PlaceVerdict verdict);

// Observations of one attempt.
struct AttemptSight {
  PlaceVerdict verdict = PlaceVerdict::unseen;
  std::string wrong_device;     // for people: "GPU 1"
  std::int64_t peak_bytes = 0;  // on the device with its highest use; 0: not seen
  double activity_sum = 0;      // percent of its first device, summed over samples in which it was
                                // alone …
  std::int64_t alone_samples = 0;  // … and the number of these
  double grown_s = 0;              // monotonic: when the peak last rose
  std::optional<double> activity_percent() const {
    if (alone_samples == 0) return std::nullopt;
    return activity_sum / static_cast<double>(alone_samples);
  }

  std::set<std::pair<std::string, int>> before;  // UUID and process: present when it began
  int wrong_samples = 0;                         // consecutive
};

// An attempt to be observed.
struct WatchedAttempt {
  std::string mark;                  // LOCKSTEP_ATTEMPT of its processes
  std::vector<std::size_t> devices;  // indexes into the devices of the batch
  bool alone = true;                 // no other job of the batch is on them
  AttemptSight* sight = nullptr;
};

class DeviceWatch {
 public:
  explicit DeviceWatch(std::vector<Device> devices, double every_s = 0.5);
  DeviceWatch(std::vector<Device> devices, std::shared_ptr<GpuReader> reader, double every_s);
  ~DeviceWatch();

  // Memory of the smallest device; 0: unknown.
  std::int64_t least_memory_bytes() const;
  // Takes the newest sample, without waiting. False if there is none since the last call.
  bool take();
  void begin(AttemptSight& sight) const;  // call it when the attempt is about to start
  void look(const std::vector<WatchedAttempt>& attempts) const;
  // For a device of the batch, from the newest sample. 0 or nothing if unknown.
  std::int64_t used_bytes(std::size_t device) const;
  std::int64_t total_bytes(std::size_t device) const;
  std::optional<double> activity_percent(std::size_t device) const;
  // Whether processes that are not jobs are visible on it.
  bool has_others(std::size_t device) const;

 private:
  struct ListedProcess {
    std::size_t gpu = 0;
    int pid = 0;
    std::int64_t bytes = 0;
    bool certain = false;  // it has driver files open, or the numbers are the same inside and
                           // outside
  };
  struct Listed {
    std::map<std::string, std::vector<ListedProcess>> by_mark{};
    std::vector<bool> hidden;  // by GPU
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
  std::vector<std::optional<std::size_t>> gpu_of_;  // by device
  std::unique_ptr<Sampler> sampler_;
  std::shared_ptr<const MonitorSample> newest_;
  bool numbers_may_lie_;
};

}  // namespace lockstep
