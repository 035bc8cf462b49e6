// Records the GPUs' activity during a run, on a thread beside its ranks.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/monitor/gpu/gpu_log_file.h"
#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {

struct GpuLogSpec {
  std::filesystem::path file;
  std::vector<Device> devices;  // of the run; other devices than GPUs are ignored
  double every_s = 1;           // at least 0.1
  std::uint64_t limit_bytes = GpuLogFile::usual_limit_bytes;
  // Called on the thread, because it may hang.
  std::function<std::shared_ptr<GpuReader>()> make_reader = [] {
    return std::shared_ptr<GpuReader>(make_nvml_reader());
  };
};

// Activity over the counted time. Nothing: it was never measured.
struct GpuActivity {
  int index = 0;
  std::optional<double> busy_percent, sm_percent;
  long long samples = 0;
};

// Sums over a GPU's samples since counting began.
struct GpuActivitySum {
  int index = 0;
  double busy = 0, sm = 0;  // sums of percentages
  long long busy_samples = 0, sm_samples = 0;
};
// Activity between two sums, by device. An empty `before` means from the beginning.
std::vector<GpuActivity> activity_between(const std::vector<GpuActivitySum>& before,
                                          const std::vector<GpuActivitySum>& after);

struct GpuLogResult {
  std::vector<GpuActivity> gpus;  // in the order of the devices; empty: nothing was read
  std::string fault;              // why nothing, or not all, was recorded; "" if all was
};

// Problems with the driver or the disk never reach the run: they are reported in `fault`.
class GpuLog {
 public:
  explicit GpuLog(GpuLogSpec spec);
  ~GpuLog();
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;

  // Starts counting, once the start is over, in which GPUs wait. Further calls change nothing.
  void begin_counting();
  // Sums so far, in the order of the devices; empty if nothing was read yet.
  std::vector<GpuActivitySum> sums() const;
  // Ends the thread; a thread stuck in the driver is left behind after 2 s.
  GpuLogResult stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Lines for the end of a run: the mean activity, and which GPUs idled. "" if there is nothing to
// report.
std::string gpu_activity_text(const GpuLogResult& result, const std::filesystem::path& file);

}  // namespace lockstep
