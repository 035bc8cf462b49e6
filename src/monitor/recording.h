// Samples in a file: written as they come, read again later or elsewhere
// (docs/reference/recording.md).
//
// One JSON object a line, so that a recording that was cut off is whole up to its last line:
//   {"kind": "recording", "version": 1, "lockstep": "0.1.0", "time": unix s, "gpus": [{"index",
//    "uuid", "name", "pci", "memory", "capability": [9, 0], "fault"}], "metrics": [names], …}
//   {"kind": "process", "pid", "user", "command", "started": unix s}   when first seen on a GPU
//   {"kind": "sample", "n", "t": unix s, "at": monotonic s, "took": s, "cpu": cores, "gpus": [
//     {"v": [a value for each of "metrics"], "p": [[pid, bytes, SM %, graphics]] or null, "fault",
//      "about": {metric: [source, period_s, why]}}]}
// A value is a number; true: the number of the sample before; [number, age in s] where it was had
// before this sample; null: no sample; false: unsupported. "about" has what has changed.
// Other kinds of lines are passed over.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "monitor/process_info.h"
#include "monitor/sample_text.h"
#include "monitor/sampler.h"

namespace lockstep {

// Makes the lines; each ends with a newline.
class SampleRecorder {
 public:
  explicit SampleRecorder(std::vector<GpuInfo> gpus)
      : gpus_(std::move(gpus)), known_(gpus_.size()) {}
  // more: further members of the first line.
  std::string head(double wall_s, const nlohmann::json& more = nlohmann::json::object()) const;
  // The sample, after a line for each process that was not seen before.
  std::string lines(const MonitorSample& sample, const FindProcess& find);

 private:
  struct Known {  // of a reading, as a reader of the lines has it
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
  // Throws Error if it cannot be read, is no recording, or one of a newer Lockstep.
  explicit Recording(const std::filesystem::path& path);

  const nlohmann::json& head() const { return head_; }
  const std::vector<GpuInfo>& gpus() const { return gpus_; }
  // The next sample, or nothing at the end. A last line that was cut off is no sample; throws Error
  // for one before it that is damaged, with its number.
  std::optional<MonitorSample> next();
  // As they were at the newest sample.
  std::optional<ProcessInfo> process(int pid) const;
  // Called for every line of another kind than those above, in the order of the file.
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
  std::vector<int> metrics_;  // place in GpuMetric of each value; -1: not known to this Lockstep
  std::vector<GpuSample> known_;
  std::map<int, Process> processes_;
  double newest_wall_s_ = 0;
};

}  // namespace lockstep
