// The evidence of the doctor: the machine, samples of its GPUs, and facts from /proc about
// processes that use a GPU or could. A recording (the file of `lockstep doctor --record`) contains
// all of it.
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
  double cpu_s = 0;  // CPU seconds since the start of the thread
};

struct ProcessEvidence {
  int pid = 0, parent = 0, group = 0, session = 0;
  std::string user, command;
  char state = '?';                  // state in /proc/PID/stat: R, S, D, T, Z, …
  double age_s = 0, cpu_s = 0;       // cpu_s: CPU seconds of all threads since the start
  std::optional<double> io_s;        // time waiting for block devices, if the kernel counts it
  std::optional<double> read_bytes;  // bytes that it has read, including those from the page cache
  int threads = 0;
  std::vector<ThreadEvidence> busiest;  // threads with the most CPU time, the highest first
  // environment at exec, with only the variables that is_telling_variable() allows
  std::map<std::string, std::string> environment;
  std::set<int> gpu_files;    // the N of each open /dev/nvidiaN
  bool control_file = false;  // whether /dev/nvidiactl is open
  bool uvm_file = false;      // whether /dev/nvidia-uvm is open, so that CUDA has started
  // whether the process is in another mount namespace, such as in a container
  bool elsewhere = false;
  // Mapped libraries that identify software, such as "libtorch_cuda.so".
  std::set<std::string> libraries;
  std::vector<std::string> unreadable;  // what cannot be read and why: "environ: Permission denied"

  bool can_read(const std::string& what) const;  // what: "environ", "fd" or "maps"
  // Whether the program has overwritten its environment at exec, which can then not be read.
  bool has_overwritten_environment() const;
};

// The reason in `unreadable` for an environment that the program has overwritten.
inline constexpr const char* overwritten_environment = "overwritten by the program itself";

struct ProcessSnapshot {
  double at_s = 0;  // time of the snapshot on the monotonic clock
  // Whether the open files of all processes could be read, including processes that are not in the
  // snapshot.
  bool files_seen = false;
  std::set<int> gone;  // numbers from NVML that no process of this PID namespace has
  std::map<int, ProcessEvidence> processes;
  // The parent of each of these processes and of their ancestors, up to the first process.
  std::map<int, int> parents;
};

struct GpuPlace {  // facts about a whole GPU that are not in samples
  std::string device_file, denied, compute_mode;
  std::optional<bool> mig;
  int mig_instances = 0;
  // the best that the GPU and its slot support; 0 if unknown
  int pcie_generation = 0, pcie_lanes = 0;
  std::optional<double> default_power_limit_w;  // this and the next three members: as in GpuDetails
  std::optional<std::uint64_t> ecc_uncorrected;
  bool remap_pending = false, remap_failed = false;
  std::vector<GpuFault> faults;  // faults in the kernel's log
};

struct Evidence {
  std::vector<GpuInfo> gpus;
  std::vector<GpuPlace> places;  // one for each GPU, in the order of gpus
  std::string driver, no_gpus;
  int gpus_of_host = 0;  // number of GPUs that the kernel module knows; 0 if unknown
  // Whether NVML may report the host's process numbers; see may_have_numbers_of_host().
  bool numbers_of_host = false;
  int cores = 1;
  // environment of the doctor, with only the variables that is_telling_variable() allows
  std::map<std::string, std::string> environment;
  // UUIDs of all GPUs without "GPU-", in CUDA's own order. Set only if the GPUs are of different
  // models.
  std::optional<std::vector<std::string>> cuda_fastest;
  std::vector<MonitorSample> samples;
  std::vector<ProcessSnapshot> snapshots;
  std::optional<int> subject;  // set if the user asked only about this process and its descendants
};

// Whether a recording may contain the value of this environment variable. These are the variables
// that decide how GPUs are used.
bool is_telling_variable(const std::string& name);

// Takes a snapshot of the processes that matter. A process is in it if one of these holds:
// - CUDA has started in it, or it maps a library that computes on GPUs.
// - It is in `pids`, which are the processes that NVML lists.
// - It is a launcher and an ancestor of such a process, or a parent with the same program.
// - It is a descendant of a process in the snapshot.
// Does not throw if a process ends meanwhile or cannot be inspected.
ProcessSnapshot snapshot_of(double at_s, const std::set<int>& pids,
                            const std::filesystem::path& root = "/");

// Returns the processes that NVML lists in the sample.
std::set<int> pids_of(const MonitorSample& sample);

// Make the parts of a recording that are not samples. place_json: further members for
// SampleRecorder::head(). snapshot_json: the line of a snapshot.
nlohmann::json place_json(const Evidence& evidence);
nlohmann::json snapshot_json(const ProcessSnapshot& snapshot);

// Reads a recording. Throws Error if it is damaged or not from the doctor.
Evidence read_evidence(const std::filesystem::path& recording);

}  // namespace lockstep
