// Samples in a file, written as they come and read again later or elsewhere
// (docs/reference/recording.md).
//
// One JSON object per line, so that a truncated recording is whole up to its last line:
//   {"kind": "recording", "version": 1, "lockstep": "0.1.0", "time": unix s, "gpus": [{"index",
//    "uuid", "name", "pci", "memory", "capability": [9, 0], "fault"}], "metrics": [names], …}
//   {"kind": "process", "pid", "user", "command", "started": unix s}   when first seen on a GPU
//   {"kind": "sample", "n", "t": unix s, "at": monotonic s, "took": s, "cpu": cores, "gpus": [
//     {"v": [a value for each of "metrics"], "p": [[pid, bytes, SM %, graphics]] or null, "fault",
//      "about": {metric: [source, period_s, why]}}]}
// A value is a number or one of these. true: the number of the sample before; [number, age in s]:
// it was read before this sample; null: no sample; false: unsupported. "about" holds the changes.
// Lines of other kinds are skipped.
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

// Makes the lines; each ends with a newline.
class SampleRecorder {
 public:
  explicit SampleRecorder(std::vector<GpuInfo> gpus)
      : gpus_(std::move(gpus)), known_(gpus_.size()) {}
  // more: further members of the first line.
  std::string head(double wall_s, const nlohmann::json& more = nlohmann::json::object()) const;
  // The sample, preceded by a line for each new process.
  std::string lines(const MonitorSample& sample, const FindProcess& find);

 private:
  struct Known {  // the state of a reading that readers of the lines know by now
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
  // Throws Error if it cannot be read, is not a recording, or is from a newer Lockstep.
  explicit Recording(const std::filesystem::path& path);

  const nlohmann::json& head() const { return head_; }
  const std::vector<GpuInfo>& gpus() const { return gpus_; }
  // The next sample, or nothing at the end. A truncated last line is ignored. Throws Error with the
  // line number if an earlier line is damaged.
  std::optional<MonitorSample> next();
  // As of the newest sample.
  std::optional<ProcessInfo> process(int pid) const;
  // Called for every line of any other kind, in file order.
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
  std::vector<int> metrics_;  // place in GpuMetric of each value; -1: unknown to this Lockstep
  std::vector<GpuSample> known_;
  std::map<int, Process> processes_;
  double newest_wall_s_ = 0;
};

}  // namespace lockstep
