// Who a process is, of /proc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// What a rank of a run of Lockstep's works on; see own_runs.h.
struct OwnRun {
  std::string name;  // of the run
  std::string path;  // of its directory
  std::string job;   // "train", "evaluate", "predict" or "bench"
  // Of a training; what is unknown is nothing, or 0.
  std::optional<std::int64_t> step;  // finished
  std::int64_t total_steps = 0;
  std::optional<double> units_per_s;
  std::string unit;  // "tokens", "samples", …
  std::optional<double> eta_s;
};

struct ProcessInfo {
  std::string user;     // name, or number where it has none
  std::string command;  // without_secrets; of a kernel thread or zombie its name in brackets
  double age_s = 0;     // since its start
  std::optional<OwnRun> run{};  // process_info leaves it out, find_processes fills it in
};

using FindProcess = std::function<std::optional<ProcessInfo>(int pid)>;

// Nothing if there is no such process here: it ended, or its number is that of another PID
// namespace. proc: where /proc is.
std::optional<ProcessInfo> process_info(int pid, const std::filesystem::path& proc = "/proc");

// Whether the driver may count processes otherwise than /proc does: from within a PID namespace, as
// in a container, it may give the host's numbers. Not if LOCKSTEP_NVML names another library.
bool may_have_numbers_of_host(const std::filesystem::path& proc = "/proc");

// Whether a process has files of the NVIDIA driver open, as each has that a GPU's driver names;
// nothing where that cannot be seen.
std::optional<bool> has_gpu_files(int pid, const std::filesystem::path& proc = "/proc");

// A process with its children, their children and so on; empty if it is not there.
std::set<int> process_tree(int pid, const std::filesystem::path& proc = "/proc");

}  // namespace lockstep
