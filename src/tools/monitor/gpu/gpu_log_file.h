// gpu.csv of a run: a line per GPU and sample, with bounded size.
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

// Whether a process on a GPU belongs to this run. Nothing: unknown, for instance if the driver's
// process numbers differ from this container's.
using IsOwnProcess = std::function<std::optional<bool>(int pid)>;

// The columns, without a newline.
std::string gpu_log_head();
// A line for each GPU of the sample, ending with a newline. Cells without a measurement are empty.
// gpus: those of the sample, in its order.
std::string gpu_log_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                          const IsOwnProcess& is_own);

// Appends to the file of an earlier start. At the size limit every second sample is deleted, old
// and new alike, and from then on half as many are taken. So the file covers the whole run.
class GpuLogFile {
 public:
  static constexpr std::uint64_t usual_limit_bytes = std::uint64_t{32} << 20;

  // every_s: the interval of the samples to come. Compared with the interval of the existing
  // samples, it tells how many of the new ones to keep. Throws Error if the file is not writable or
  // has other columns.
  GpuLogFile(std::filesystem::path path, double every_s,
             std::uint64_t limit_bytes = usual_limit_bytes);

  // lines: those of one sample. Returns whether all of them are written. A full disk loses samples
  // but damages none. Throws Error if the file has reached its limit and cannot be read back.
  bool append(const std::string& lines);

 private:
  std::string read_all() const;
  long long thin_out();  // returns the number of samples before

  std::filesystem::path path_;
  std::uint64_t limit_bytes_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  // keeps one of this many samples; how many samples come before the next one that is kept
  long long every_ = 1, wait_ = 0;
};

}  // namespace lockstep
