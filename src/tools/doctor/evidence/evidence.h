// The doctor's evidence: the machine, samples of its GPUs, and facts from /proc about processes
// that use a GPU or should. A recording holds all of it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/devices/gpus/cuda_order.h"
#include "core/devices/gpus/gpu_probe.h"
#include "tools/doctor/evidence/kernel_log.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

struct ThreadEvidence {
  int tid = 0;
  std::string name;
  double cpu_s = 0;  // since its start
};

struct ProcessEvidence {
  int pid = 0, parent = 0, group = 0, session = 0;
  std::string user, command;
  char state = '?';                  // from stat: R, S, D, T, Z, …
  double age_s = 0, cpu_s = 0;       // cpu_s: of all threads since the start
  std::optional<double> io_s;        // time waiting for block devices, if the kernel counts it
  std::optional<double> read_bytes;  // bytes requested, including those from the page cache
  int threads = 0;
  std::vector<ThreadEvidence> busiest;             // those with the most CPU time, most first
  std::map<std::string, std::string> environment;  // at exec; only names on the allow list
  std::set<int> gpu_files;                         // N of each open /dev/nvidiaN
  bool control_file = false;                       // /dev/nvidiactl is open
  bool uvm_file = false;                           // /dev/nvidia-uvm is open: CUDA has started
  bool elsewhere = false;                          // in another mount namespace, as in a container
  std::set<std::string> libraries;                 // mapped libraries that identify software:
                                                   // "libtorch_cuda.so", …
  std::vector<std::string> unreadable;             // "environ: Permission denied"

  bool can_read(const std::string& what) const;  // "environ", "fd", "maps"
  // Whether the program has overwritten its own environment at exec, so that nobody can read it.
  bool has_overwritten_environment() const;
};

// The reason in `unreadable` for an environment that the program has overwritten.
inline constexpr const char* overwritten_environment = "overwritten by the program itself";

struct ProcessSnapshot {
  double at_s = 0;          // monotonic clock, as in samples
  bool files_seen = false;  // the files of every process were visible, also of those not listed
                            // here
  std::set<int> gone;       // numbers from NVML that no process of this PID namespace has
  std::map<int, ProcessEvidence> processes;
  // parents of these processes and of their ancestors, up to the first process
  std::map<int, int> parents;
};

struct GpuPlace {  // facts about a whole GPU that samples lack
  std::string device_file, denied, compute_mode;
  std::optional<bool> mig;
  int mig_instances = 0;
  int pcie_generation = 0, pcie_lanes = 0;      // the best that GPU and slot support; 0: unknown
  std::optional<double> default_power_limit_w;  // as in GpuDetails, like the next three members
  std::optional<std::uint64_t> ecc_uncorrected;
  bool remap_pending = false, remap_failed = false;
  std::vector<GpuFault> faults;  // from the kernel's log
};

struct Evidence {
  std::vector<GpuInfo> gpus;
  std::vector<GpuPlace> places;  // in the order of gpus
  std::string driver, no_gpus;
  int gpus_of_host = 0;          // GPUs that the kernel module knows; 0: unknown
  bool numbers_of_host = false;  // NVML may give the host's process numbers, see
                                 // may_have_numbers_of_host
  int cores = 1;
  std::map<std::string, std::string> environment;  // of the doctor; names on the allow list
  // UUIDs without "GPU-" in CUDA's own order of all GPUs, if these are of different models.
  std::optional<std::vector<std::string>> cuda_fastest;
  std::vector<MonitorSample> samples;
  std::vector<ProcessSnapshot> snapshots;
  std::optional<int> subject;  // the user asked only about this process and its descendants
};

// Names whose values a recording may hold: those that decide how GPUs are used.
bool is_telling_variable(const std::string& name);

// Takes a process if CUDA has started in it, if it maps a library that computes on GPUs, or if it
// is in `pids` (processes that NVML names). Also takes their children. Does not throw if a process
// ends meanwhile or may not be inspected.
ProcessSnapshot snapshot_of(double at_s, const std::set<int>& pids,
                            const std::filesystem::path& root = "/");

// The processes that NVML names in the sample.
std::set<int> pids_of(const MonitorSample& sample);

// Parts of a recording besides samples: further members of its head() line, and the line of a
// snapshot.
nlohmann::json place_json(const Evidence& evidence);
nlohmann::json snapshot_json(const ProcessSnapshot& snapshot);

// Throws Error for a recording that is damaged or not from the doctor.
Evidence read_evidence(const std::filesystem::path& recording);

}  // namespace lockstep
