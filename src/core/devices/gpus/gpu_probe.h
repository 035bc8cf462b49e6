// Reports the GPUs of the machine through NVML. It is an interface, so that tests can use a fake.
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
  int index = 0;     // index in NVML, which is the PCI bus order
  std::string uuid;  // "GPU-…" or "MIG-…"
  std::string name;
  std::string pci_bus_id;
  std::optional<std::uint64_t> memory_total_bytes, memory_used_bytes;
  int compute_major = 0, compute_minor = 0;
  std::string fault;  // reason if it cannot be used ("GPU is lost"); else empty
};

// Further facts from NVML about a whole GPU. A member is not set if NVML does not report it.
struct GpuDetails {
  std::optional<int> minor;                     // the N of its device file /dev/nvidiaN
  std::optional<double> power_limit_w;          // power limit in force
  std::optional<double> default_power_limit_w;  // default power limit of the board
  std::string compute_mode;  // "default", "exclusive process", "prohibited"; "" if unknown
  std::optional<bool> mig;   // whether it is split into MIG instances
  // uncorrected memory errors since the driver was loaded
  std::optional<std::uint64_t> ecc_uncorrected;
  // rows of its memory will be replaced by spare rows at the next reset
  bool remap_pending = false;
  bool remap_failed = false;  // a row of its memory was faulty and could not be replaced
};

// The path from one GPU to another over PCIe: the nearest part that both share.
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
  // Returns all GPUs of the machine in PCI bus order. Returns an empty list if there is no working
  // driver; why_absent() then has the reason.
  virtual std::vector<GpuInfo> gpus() = 0;
  virtual std::string why_absent() const = 0;  // reason why NVML does not work; "" if it works
  virtual std::string driver_version() = 0;    // "580.159.04"; "" if unknown
  virtual int cuda_driver_version() = 0;       // 13000 for 13.0; 0 if unknown
  // Returns the utilisation in percent, or nothing if it is unsupported.
  virtual std::optional<int> utilization_percent(const std::string& uuid) = 0;
  // Returns the links of the GPU, or nothing if they are unsupported.
  virtual std::optional<GpuLinks> links(const std::string& uuid) = 0;
  // index: the index of the GPU in NVML; for a MIG instance, that of its whole GPU.
  virtual GpuDetails details(int index) = 0;
  virtual std::optional<PciePath> path(int a, int b) = 0;  // nothing if unsupported
};

// Makes a probe that uses NVML, see NvmlLibrary. Never throws.
std::unique_ptr<GpuProbe> make_nvml_probe();

constexpr int most_rank_threads = 4096;
struct HostInfo {
  int cores = 1;                   // cores that this process may use, by affinity and cgroup quota
  std::uint64_t memory_bytes = 0;  // physical memory, or the cgroup's limit if that is smaller
  int rank_threads = 0;            // threads of a CPU rank from OMP_NUM_THREADS; 0 if it is not set
};
HostInfo host_info();
// The same, but reads /proc and /sys below `root`. affinity_cores: number of CPUs in the affinity
// mask of this process.
HostInfo host_info_under(const std::filesystem::path& root, int affinity_cores);

// Selects devices. spec is one of these:
// - "all" or "auto": all visible GPUs, or the same as "cpu" if there is none.
// - "cpu": 2 CPU ranks that share the cores, or 1 on one core. "cpu:4": 4 such ranks.
// - "0,1": indexes among the GPUs that CUDA_VISIBLE_DEVICES leaves visible.
// - "GPU-uuid[,…]": UUIDs, or unique prefixes of them. The probe need not know a "MIG-uuid".
// root: the folder of /proc, /dev and /sys. visible: the value of CUDA_VISIBLE_DEVICES, or null.
// cuda_needed: as in check_driver. Throws Error in these cases:
// - A device does not exist (the error names the existing ones), or is named twice.
// - A selected GPU has a fault, or is older than sm_75. This also holds for "all".
// - GPUs are wanted, and the machine has NVIDIA hardware but no working driver.
// - The driver is too old for `cuda_needed`.
std::vector<Device> select_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                   const char* visible, int cuda_needed,
                                   const std::filesystem::path& root = "/");

// Returns the devices that still answer. A CPU rank always does. A GPU does if NVML lists it
// without a fault, so not if it has fallen off the bus.
std::vector<Device> still_answering(const std::vector<Device>& devices, GpuProbe& probe);

// Returns devices for `lockstep plan --devices`, which this machine need not have: "8", "8xH100",
// "cpu:4", "2xT4", "T4 x2", "4x80GB". A plain number is a number of GPUs like the first one of this
// machine, or like an H100 80 GB if there is none. "0" means one such GPU. Any other spec is passed
// to select_devices.
std::vector<Device> imagine_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                    const char* visible, const std::filesystem::path& root = "/");

}  // namespace lockstep
