// The interface through which Lockstep gets data about the machine's GPUs, so that tests can use a
// fake. Selects the devices of a run.
#pragma once

#include "core/devices/device.h"
#include "core/devices/gpus/gpu_links.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct GpuInfo {
  int index = 0;     // index in NVML, which orders GPUs by PCI bus id
  std::string uuid;  // "GPU-…" or "MIG-…"
  std::string name;
  std::string pci_bus_id;
  std::optional<std::uint64_t> memory_total_bytes, memory_used_bytes;
  int compute_major = 0, compute_minor = 0;
  std::string fault;  // why it cannot be used ("GPU is lost"); empty if it can
};

// Further facts from NVML about a GPU (not a MIG instance). An optional member is not set if NVML
// does not report it.
struct GpuDetails {
  std::optional<int> minor;                     // the N of its device file /dev/nvidiaN
  std::optional<double> power_limit_w;          // power limit in force
  std::optional<double> default_power_limit_w;  // default power limit of the board
  std::string compute_mode;  // "default", "exclusive process", "prohibited"; "" if unknown
  std::optional<bool> mig;   // whether the GPU is split into MIG instances
  // uncorrected memory errors since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected;
  // faulty rows of its memory will be replaced by spare rows at the next reset
  bool remap_pending = false;
  bool remap_failed = false;  // a row of its memory was faulty and could not be replaced
};

// The PCIe path between two GPUs, named after the nearest component that both share.
enum class PciePath {
  same_board,
  one_switch,
  several_switches,
  host_bridge,
  same_cpu,
  between_cpus
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  // Returns all GPUs of the machine in PCI bus order. If there is no working driver, the list is
  // empty, and why_absent() has the reason.
  virtual std::vector<GpuInfo> gpus() = 0;
  virtual std::string why_absent() const = 0;  // why NVML does not work; "" if it works
  virtual std::string driver_version() = 0;    // "580.159.04"; "" if unknown
  virtual int cuda_driver_version() = 0;       // 13000 for 13.0; 0 if unknown
  // Returns the utilisation of the GPU in percent, or nothing if the GPU does not report it.
  virtual std::optional<int> utilization_percent(const std::string& uuid) = 0;
  // Returns the links of the GPU, or nothing if the GPU does not report them.
  virtual std::optional<GpuLinks> links(const std::string& uuid) = 0;
  // Returns further facts about the GPU. index: GpuInfo::index; for a MIG instance, that of its
  // GPU.
  virtual GpuDetails details(int index) = 0;
  // a, b: GpuInfo::index; nothing if it is not reported
  virtual std::optional<PciePath> path(int a, int b) = 0;
};

// Makes a probe that uses NVML (nvml_library.h). Never throws.
std::unique_ptr<GpuProbe> make_nvml_probe();

constexpr int most_rank_threads = 4096;
struct HostInfo {
  int cores = 1;                   // cores that this process may use, by affinity and cgroup quota
  std::uint64_t memory_bytes = 0;  // physical memory, or the cgroup's limit if that is smaller
  int rank_threads = 0;  // threads per CPU rank, from OMP_NUM_THREADS; 0 if that is not set
};
HostInfo host_info();
// The same, but reads /proc and /sys below `root`. affinity_cores: number of CPUs in the affinity
// mask of this process.
HostInfo host_info_under(const std::filesystem::path& root, int affinity_cores);

// Selects the devices of a run. spec is one of these:
// - "all" or "auto": all visible GPUs; if there are none, the same as "cpu".
// - "cpu": 2 CPU ranks that share the cores, or 1 rank if there is one core. "cpu:4": 4 CPU ranks.
// - "0,1": indexes among the GPUs that CUDA_VISIBLE_DEVICES leaves visible.
// - "GPU-uuid[,…]": UUIDs, or unique prefixes of them. A "MIG-uuid" is accepted even if the probe
//   does not list it.
// visible: the value of CUDA_VISIBLE_DEVICES, or null. cuda_needed: as in check_driver. root: the
// folder that contains proc, dev and sys. Throws Error in these cases:
// - A device in `spec` does not exist (the error names the existing devices), or is named twice.
// - A selected GPU has a fault, or is older than sm_75. This also holds for "all".
// - No GPU is visible although `spec` names some.
// - The machine has NVIDIA hardware but no working driver. This also holds for "all".
// - The driver is too old for `cuda_needed`.
std::vector<Device> select_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                   const char* visible, int cuda_needed,
                                   const std::filesystem::path& root = "/");

// Returns the devices that can still be used. A CPU rank always can. A GPU can if NVML lists it
// without a fault, which is not so if it has fallen off the bus.
std::vector<Device> still_answering(const std::vector<Device>& devices, GpuProbe& probe);

// Returns devices for `lockstep plan --devices`, which this machine need not have: "8", "8xH100",
// "cpu:4", "2xT4", "T4 x2", "4x80GB". A plain number is a number of GPUs like the first GPU of this
// machine. If the machine has no GPU, they are like an H100 with 80 GB. "0" means one such GPU. Any
// other spec is passed to select_devices.
std::vector<Device> imagine_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                    const char* visible, const std::filesystem::path& root = "/");

}  // namespace lockstep
