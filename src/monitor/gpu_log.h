// What the GPUs of a run do, recorded while its ranks run, by a thread beside them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"
#include "monitor/gpu_log_file.h"
#include "monitor/gpu_reader.h"

namespace lockstep {

struct GpuLogSpec {
  std::filesystem::path file;
  std::vector<Device> devices;  // of the run; those that are no GPUs are left out
  double every_s = 1;           // at least 0.1
  std::uint64_t limit_bytes = GpuLogFile::usual_limit_bytes;
  // Called in the thread, because it may hang.
  std::function<std::shared_ptr<GpuReader>()> make_reader = [] {
    return std::shared_ptr<GpuReader>(make_nvml_reader());
  };
};

// Over the time that counts. Nothing: it was never measured.
struct GpuActivity {
  int index = 0;
  std::optional<double> busy_percent, sm_percent;
  long long samples = 0;
};

// What was sampled of a GPU since activity counts.
struct GpuActivitySum {
  int index = 0;
  double busy = 0, sm = 0;  // percent, added up
  long long busy_samples = 0, sm_samples = 0;
};
// Of the time between the two, by device. `before` may be empty: from the beginning.
std::vector<GpuActivity> activity_between(const std::vector<GpuActivitySum>& before,
                                          const std::vector<GpuActivitySum>& after);

struct GpuLogResult {
  std::vector<GpuActivity> gpus;  // in the order of the devices; empty: nothing was read
  std::string fault;              // why nothing, or not all, was recorded; "" all was
};

// Nothing that goes wrong with the driver or the disk reaches the run: it is told in `fault`.
class GpuLog {
 public:
  explicit GpuLog(GpuLogSpec spec);
  ~GpuLog();
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;

  // From now on activity counts: the start, in which GPUs wait, is over. Again: no change.
  void begin_counting();
  // Until now, in the order of the devices; empty: nothing was read yet.
  std::vector<GpuActivitySum> sums() const;
  // Ends the thread; one that a driver holds is left behind after 2 s.
  GpuLogResult stop();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// What the end of a run says of it, a line each: the mean activity, and who idled. "": there is
// nothing to say.
std::string gpu_activity_text(const GpuLogResult& result, const std::filesystem::path& file);

}  // namespace lockstep
