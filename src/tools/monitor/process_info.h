// Reads facts about a process from /proc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// The run of Lockstep in which a process is a rank; see own_runs.h.
struct OwnRun {
  std::string name;  // name of the run
  std::string path;  // path of the run's folder
  std::string job;   // "train", "evaluate", "predict" or "bench"
  // The following members are for "train" only. Unknown values are not set, or 0.
  std::optional<std::int64_t> step;  // finished steps
  std::int64_t total_steps = 0;
  std::optional<double> units_per_s;
  std::string unit;  // "tokens", "samples", …
  std::optional<double> eta_s;
};

struct ProcessInfo {
  std::string user;  // name of the user, or the number if there is no name
  // The command without secrets; see without_secrets(). For a kernel thread or zombie, its name in
  // brackets.
  std::string command;
  double age_s = 0;             // seconds since the start of the process
  std::optional<OwnRun> run{};  // not set by process_info(); set by find_processes()
};

using FindProcess = std::function<std::optional<ProcessInfo>(int pid)>;

// Returns nothing if this PID namespace has no such process. It may have ended, or the number may
// be of another PID namespace. proc: the path of /proc.
std::optional<ProcessInfo> process_info(int pid, const std::filesystem::path& proc = "/proc");

// Whether the driver's process numbers may differ from those of /proc. In a PID namespace, such as
// in a container, the driver may report the host's numbers. Returns false if LOCKSTEP_NVML names
// another library than the driver's, and in Linux under Windows (WSL).
bool may_have_numbers_of_host(const std::filesystem::path& proc = "/proc");

// Whether a process has files of the NVIDIA driver open, as each process on a GPU has. Returns
// nothing if its files cannot be listed.
std::optional<bool> has_gpu_files(int pid, const std::filesystem::path& proc = "/proc");

// Returns the process and all its descendants; empty if it does not exist.
std::set<int> process_tree(int pid, const std::filesystem::path& proc = "/proc");

}  // namespace lockstep
