// Writes gpu.csv of a run: a line per GPU and sample. The size of the file is bounded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"
#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/sample_source.h"

namespace lockstep {

// Returns whether a process on a GPU belongs to this run. Returns nothing if that is unknown, for
// example because the driver's process numbers are not those of this container.
using IsOwnProcess = std::function<std::optional<bool>(int pid)>;

// Returns the line of column names, without a newline.
std::string gpu_log_head();
// Returns a line for each GPU of the sample; each ends with a newline. Cells without a measurement
// are empty. gpus: the GPUs of the sample, in its order.
std::string gpu_log_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                          const IsOwnProcess& is_own);

// Appends to the file, also if an earlier start of the run has created it. When the file reaches
// `limit_bytes`, every second sample in it is deleted. From then on, only half as many samples are
// kept. So the file covers the whole run.
class GpuLogFile {
 public:
  static constexpr std::uint64_t usual_limit_bytes = std::uint64_t{32} << 20;

  // every_s: the interval between calls of append(). If the samples in the file are further apart,
  // new samples are kept at about that distance. Throws Error if the file is not writable or has
  // other columns.
  GpuLogFile(std::filesystem::path path, double every_s,
             std::uint64_t limit_bytes = usual_limit_bytes);

  // lines: the lines of one sample. Returns false if the lines cannot be written. On a full disk,
  // samples are lost, but none is damaged. Throws Error if the file has reached its limit and
  // cannot be read or replaced.
  bool append(const std::string& lines);

 private:
  std::string read_all() const;
  long long thin_out();  // returns the number of samples before the call

  std::filesystem::path path_;
  std::uint64_t limit_bytes_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  // every_: one of every_ samples is kept. wait_: number of samples before the next one that is
  // kept.
  long long every_ = 1, wait_ = 0;
};

}  // namespace lockstep
