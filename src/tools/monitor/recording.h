// Writes samples to a file while they are taken, and reads such a file
// (docs/reference/recording.md).
//
// The file has one JSON object per line. So a truncated recording is complete up to its last whole
// line:
//   {"kind": "recording", "version": 1, "lockstep": "0.1.0", "time": unix s, "gpus": [{"index",
//    "uuid", "name", "pci", "memory", "capability": [9, 0], "fault"}], "metrics": [names], …}
//   {"kind": "process", "pid", "user", "command", "started": unix s}   when first seen on a GPU
//   {"kind": "sample", "n", "t": unix s, "at": monotonic s, "took": s, "cpu": cores, "gpus": [
//     {"v": [a value for each of "metrics"], "p": [[pid, bytes, SM %, graphics]] or null, "fault",
//      "about": {metric: [source, period_s, why]}}]}
// A process has a line when it is first seen on a GPU. Another line follows if the pid later has
// another command. A value is a number, or one of these:
//   true: the same number as in the previous sample
//   [number, age in s]: the number was read before this sample
//   null: there is no sample
//   false: the metric is unsupported
// A metric is in "about" if its source, period or reason has changed. Recording passes lines of any
// other kind to on_other.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/monitor/process_info.h"
#include "tools/monitor/sample_text.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

// Makes the lines of a recording. Each line ends with a newline.
class SampleRecorder {
 public:
  explicit SampleRecorder(std::vector<GpuInfo> gpus)
      : gpus_(std::move(gpus)), known_(gpus_.size()) {}
  // Returns the first line. more: members to add to it.
  std::string head(double wall_s, const nlohmann::json& more = nlohmann::json::object()) const;
  // Returns the line of the sample, after a line for each new process.
  std::string lines(const MonitorSample& sample, const FindProcess& find);

 private:
  struct Known {  // the reading that the earlier lines of the file state
    Reading reading;
    bool told = false;
  };
  nlohmann::json value_of(Known& known, const Reading& reading, double sample_s) const;
  std::vector<GpuInfo> gpus_;
  std::vector<std::array<Known, metric_count>> known_;
  std::map<int, ProcessInfo> processes_;
};

class Recording {
 public:
  // Throws Error if the file cannot be read, is not a recording, or has another version of the
  // format.
  explicit Recording(const std::filesystem::path& path);

  const nlohmann::json& head() const { return head_; }
  const std::vector<GpuInfo>& gpus() const { return gpus_; }
  // Returns the next sample, or nothing at the end. A truncated last line is ignored. Throws Error
  // with the line number if an earlier line is damaged.
  std::optional<MonitorSample> next();
  // Returns a process as it was at the newest sample; nothing if the recording does not have the
  // process.
  std::optional<ProcessInfo> process(int pid) const;
  // Called for each line of any other kind, in the order of the file.
  std::function<void(const nlohmann::json&)> on_other = [](const nlohmann::json&) {};

 private:
  struct Process {
    ProcessInfo info;
    double started_s = 0;
  };
  std::optional<nlohmann::json> next_line();
  MonitorSample sample_of(const nlohmann::json& line);
  [[noreturn]] void damaged(const std::string& what) const;

  std::filesystem::path path_;
  std::ifstream file_;
  long long line_ = 0;
  nlohmann::json head_;
  std::vector<GpuInfo> gpus_;
  // GpuMetric of each value as a number; -1 if this version does not know it
  std::vector<int> metrics_;
  std::vector<GpuSample> known_;
  std::map<int, Process> processes_;
  double newest_wall_s_ = 0;
};

}  // namespace lockstep
