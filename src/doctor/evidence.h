// What the doctor looks at: the machine, samples of its GPUs, and what /proc says of the processes
// that use one or should. A recording holds all of it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "devices/cuda_order.h"
#include "devices/gpu_probe.h"
#include "doctor/kernel_log.h"
#include "monitor/sampler.h"

namespace lockstep {

struct ThreadEvidence {
  int tid = 0;
  std::string name;
  double cpu_s = 0;  // since its start
};

struct ProcessEvidence {
  int pid = 0, parent = 0, group = 0, session = 0;
  std::string user, command;
  char state = '?';                  // of stat: R, S, D, T, Z, …
  double age_s = 0, cpu_s = 0;       // cpu_s: of all threads since the start
  std::optional<double> io_s;        // waited for block devices, where the kernel counts it
  std::optional<double> read_bytes;  // asked for, also what the page cache had
  int threads = 0;
  std::vector<ThreadEvidence> busiest;             // those with the most CPU time, most first
  std::map<std::string, std::string> environment;  // at exec; only names on the allow list
  std::set<int> gpu_files;                         // N of each open /dev/nvidiaN
  bool control_file = false;                       // /dev/nvidiactl is open
  bool uvm_file = false;                           // /dev/nvidia-uvm is open: CUDA has started
  bool elsewhere = false;                          // in another mount namespace, as in a container
  std::set<std::string> libraries;      // mapped, of those that tell: "libtorch_cuda.so", …
  std::vector<std::string> unreadable;  // "environ: Permission denied"

  bool can_read(const std::string& what) const;  // "environ", "fd", "maps"
  // The program itself has written over its environment at exec: nobody can read it any more.
  bool has_overwritten_environment() const;
};

// Why it then cannot be read.
inline constexpr const char* overwritten_environment = "overwritten by the program itself";

struct ProcessSnapshot {
  double at_s = 0;          // monotonic clock, as of samples
  bool files_seen = false;  // of every process that there was, also of those that are not here
  std::set<int> gone;       // that NVML names, though no process of this PID namespace has it
  std::map<int, ProcessEvidence> processes;
  std::map<int, int> parents;  // of those, and of their parents, up to the first process
};

struct GpuPlace {  // of a whole GPU, what its samples do not have
  std::string device_file, denied, compute_mode;
  std::optional<bool> mig;
  int mig_instances = 0;
  int pcie_generation = 0, pcie_lanes = 0;      // the most that GPU and slot can do; 0 unknown
  std::optional<double> default_power_limit_w;  // as GpuDetails, and what follows
  std::optional<std::uint64_t> ecc_uncorrected;
  bool remap_pending = false, remap_failed = false;
  std::vector<GpuFault> faults;  // in the kernel's log
};

struct Evidence {
  std::vector<GpuInfo> gpus;
  std::vector<GpuPlace> places;  // as gpus
  std::string driver, no_gpus;
  int gpus_of_host = 0;          // that the kernel module knows; 0 unknown
  bool numbers_of_host = false;  // NVML may give those of processes, see may_have_numbers_of_host
  int cores = 1;
  std::map<std::string, std::string> environment;  // of the doctor; names on the allow list
  // UUIDs without "GPU-" in CUDA's own order of all GPUs, where they are unlike.
  std::optional<std::vector<std::string>> cuda_fastest;
  std::vector<MonitorSample> samples;
  std::vector<ProcessSnapshot> snapshots;
  std::optional<int> subject;  // only this process and those below it are asked about
};

// Names whose values a recording may hold: what decides over the use of GPUs.
bool is_telling_variable(const std::string& name);

// Of every process in which CUDA has started, that maps a library that computes on GPUs, or is in
// `pids` (those that NVML names), with their children. Never throws over a process that ends
// meanwhile or that may not be looked at.
ProcessSnapshot snapshot_of(double at_s, const std::set<int>& pids,
                            const std::filesystem::path& root = "/");

// That NVML names in the sample.
std::set<int> pids_of(const MonitorSample& sample);

// Lines of a recording besides those of samples: what head() takes more, and a snapshot.
nlohmann::json place_json(const Evidence& evidence);
nlohmann::json snapshot_json(const ProcessSnapshot& snapshot);

// Throws Error for a recording that is damaged or was not made by the doctor.
Evidence read_evidence(const std::filesystem::path& recording);

}  // namespace lockstep
