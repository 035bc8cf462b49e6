// Records the activity of GPUs during a run, on a thread of its own.
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
  std::vector<Device> devices;  // devices of the run; CPUs are ignored
  double every_s = 1;           // at least 0.1
  std::uint64_t limit_bytes = GpuLogFile::usual_limit_bytes;
  // Called on the thread of the log, because it may hang.
  std::function<std::shared_ptr<GpuReader>()> make_reader = [] {
    return std::shared_ptr<GpuReader>(make_nvml_reader());
  };
};

// Mean activity of a GPU over the time that is counted (GpuLog::begin_counting). A member is not
// set if it was never measured.
struct GpuActivity {
  int index = 0;
  std::optional<double> busy_percent, sm_percent;
  long long samples = 0;
};

// Sums over the samples of a GPU since counting began.
struct GpuActivitySum {
  int index = 0;
  double busy = 0, sm = 0;  // sums of percentages
  long long busy_samples = 0, sm_samples = 0;
};
// Returns the mean activity of each GPU between two sums. If `before` is empty, the time begins at
// GpuLog::begin_counting().
std::vector<GpuActivity> activity_between(const std::vector<GpuActivitySum>& before,
                                          const std::vector<GpuActivitySum>& after);

struct GpuLogResult {
  std::vector<GpuActivity> gpus;  // in the order of the devices; empty if nothing was read
  std::string fault;              // reason if nothing or not everything was recorded; else ""
};

// Records from construction until stop(). Problems with the driver or the disk do not disturb the
// run; stop() reports them in `fault`.
class GpuLog {
 public:
  explicit GpuLog(GpuLogSpec spec);
  ~GpuLog();
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;

  // Starts counting for the mean activity. Call it after the start-up of the run, because GPUs are
  // idle during start-up. Later calls change nothing.
  void begin_counting();
  // Returns the sums so far, in the order of the devices; empty if nothing was read yet.
  std::vector<GpuActivitySum> sums() const;
  // Ends the thread. If the thread hangs in the driver for 2 s, it is detached.
  GpuLogResult stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Returns lines for the end of a run: the mean activity, and the GPUs that were idle. Returns "" if
// there is nothing to report. file: the path of the log, which the lines contain.
std::string gpu_activity_text(const GpuLogResult& result, const std::filesystem::path& file);

}  // namespace lockstep
