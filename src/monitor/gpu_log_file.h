// gpu.csv of a run: a line a GPU and sample, of bounded size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "devices/gpu_probe.h"
#include "monitor/sample_source.h"

namespace lockstep {

// Of a process on a GPU: whether it is of this run. Nothing: that cannot be told, as where the
// driver counts processes otherwise than this container.
using IsOwnProcess = std::function<std::optional<bool>(int pid)>;

// The columns, without a newline.
std::string gpu_log_head();
// A line for each GPU of the sample, each ended by a newline. What was not measured is an empty
// cell. gpus: of the sample's, in its order.
std::string gpu_log_lines(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                          const IsOwnProcess& is_own);

// Appends to what an earlier start left. At the limit every second sample goes, the oldest like the
// newest, and from then on half as many are taken: so the whole run stays in it.
class GpuLogFile {
 public:
  static constexpr std::uint64_t usual_limit_bytes = std::uint64_t{32} << 20;

  // every_s: between the samples that will be given, so that those of before tell how many of them
  // are taken. Throws Error where it cannot be written, or where its columns are others.
  GpuLogFile(std::filesystem::path path, double every_s,
             std::uint64_t limit_bytes = usual_limit_bytes);

  // lines: of one sample. Whether all of them are there now; a full disk loses samples and spoils
  // none. Throws Error where the file cannot be read back at its limit.
  bool append(const std::string& lines);

 private:
  std::string read_all() const;
  long long thin_out();  // how many samples there were

  std::filesystem::path path_;
  std::uint64_t limit_bytes_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  long long every_ = 1, wait_ = 0;  // of the samples given: each so many; until the next
};

}  // namespace lockstep
