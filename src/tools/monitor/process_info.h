// Facts about a process, from /proc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// The work of a rank in one of Lockstep's runs; see own_runs.h.
struct OwnRun {
  std::string name;  // of the run
  std::string path;  // of its directory
  std::string job;   // "train", "evaluate", "predict" or "bench"
  // For a training; unknown values are nothing, or 0.
  std::optional<std::int64_t> step;  // finished
  std::int64_t total_steps = 0;
  std::optional<double> units_per_s;
  std::string unit;  // "tokens", "samples", …
  std::optional<double> eta_s;
};

struct ProcessInfo {
  std::string user;     // name, or number if it has no name
  std::string command;  // without_secrets; for a kernel thread or zombie its name in brackets
  double age_s = 0;     // since its start
  std::optional<OwnRun> run{};  // process_info leaves it empty, find_processes fills it in
};

using FindProcess = std::function<std::optional<ProcessInfo>(int pid)>;

// Nothing if there is no such process here: it ended, or its number belongs to another PID
// namespace. proc: where /proc is.
std::optional<ProcessInfo> process_info(int pid, const std::filesystem::path& proc = "/proc");

// Whether the driver's process numbers may differ from those of /proc. In a PID namespace, as in a
// container, it may give the host's numbers. False if LOCKSTEP_NVML names another library.
bool may_have_numbers_of_host(const std::filesystem::path& proc = "/proc");

// Whether a process has files of the NVIDIA driver open. Every process that the driver lists on a
// GPU has. Nothing if this cannot be seen.
std::optional<bool> has_gpu_files(int pid, const std::filesystem::path& proc = "/proc");

// A process with all its descendants; empty if it does not exist.
std::set<int> process_tree(int pid, const std::filesystem::path& proc = "/proc");

}  // namespace lockstep
