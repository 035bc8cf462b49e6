// NVML's view of the GPUs, behind an interface with a data-driven fake.
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
  int index = 0;     // NVML order = PCI bus order
  std::string uuid;  // "GPU-…" or "MIG-…"
  std::string name;
  std::string pci_bus_id;
  std::optional<std::uint64_t> memory_total_bytes, memory_used_bytes;
  int compute_major = 0, compute_minor = 0;
  std::string fault;  // why it cannot be used ("GPU is lost"); empty if it can
};

// Further facts from NVML about a whole GPU. Absent: NVML does not report it.
struct GpuDetails {
  std::optional<int> minor;                     // number N of its device file, /dev/nvidiaN
  std::optional<double> power_limit_w;          // the limit in force
  std::optional<double> default_power_limit_w;  // the board's default
  std::string compute_mode;  // "default", "exclusive process", "prohibited"; "" unknown
  std::optional<bool> mig;   // whether it is split into MIG instances
  std::optional<std::uint64_t> ecc_uncorrected;  // memory errors since the driver was loaded
  bool remap_pending = false;  // rows of its memory wait for a reset to be replaced by spare ones
  bool remap_failed = false;   // a row of its memory could not be replaced
};

// The path from one GPU to another over PCIe.
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
  // All GPUs of the machine, PCI order. Empty if there is no driver; `why_absent` says why.
  virtual std::vector<GpuInfo> gpus() = 0;
  virtual std::string why_absent() const = 0;  // "" if NVML works
  virtual std::string driver_version() = 0;    // "580.159.04" or ""
  virtual int cuda_driver_version() = 0;       // 13000 for 13.0; 0 unknown
  // Utilisation in percent, or nothing when unsupported.
  virtual std::optional<int> utilization_percent(const std::string& uuid) = 0;
  // The GPU's links, or nothing when unsupported.
  virtual std::optional<GpuLinks> links(const std::string& uuid) = 0;
  // index: the GPU's NVML index; for a MIG instance, that of its whole GPU.
  virtual GpuDetails details(int index) = 0;
  virtual std::optional<PciePath> path(int a, int b) = 0;  // nothing when unsupported
};

// NVML by dlopen ("libnvidia-ml.so.1", or LOCKSTEP_NVML=path). Never throws.
std::unique_ptr<GpuProbe> make_nvml_probe();

constexpr int most_rank_threads = 4096;
struct HostInfo {
  int cores = 1;                   // cores that this process may use (affinity and cgroup quota)
  std::uint64_t memory_bytes = 0;  // physical, or the cgroup's limit if smaller
  int rank_threads = 0;            // threads of a CPU rank by OMP_NUM_THREADS; 0 if it is not set
};
HostInfo host_info();
// The same from a recorded tree. affinity_cores: CPUs in this process's affinity mask.
HostInfo host_info_under(const std::filesystem::path& root, int affinity_cores);

// spec: "all" or "auto" is every visible GPU, or the same as "cpu" if there is none. "cpu" is 2 CPU
// ranks that share the cores (1 on one core); "cpu:4" is 4. "0,1" are indexes within the GPUs that
// CUDA_VISIBLE_DEVICES leaves visible. "GPU-uuid[,…]" are UUIDs; a unique prefix suffices.
// "MIG-uuid" may be unknown to the probe. root: where /proc, /dev and /sys are. visible: the value
// of CUDA_VISIBLE_DEVICES or null. Throws Error for: an unknown device (present ones named); the
// same device twice; a GPU older than sm_75, also with "all"; NVIDIA device files or PCI devices
// without a working driver; a driver too old for `cuda_needed` (e.g. 13000; 0 = no check).
std::vector<Device> select_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                   const char* visible, int cuda_needed,
                                   const std::filesystem::path& root = "/");

// The `devices` that still answer: CPU ranks always, GPUs if NVML lists them without a fault. A GPU
// that fell off the bus does not answer.
std::vector<Device> still_answering(const std::vector<Device>& devices, GpuProbe& probe);

// Imaginary devices for `lockstep plan --devices`: "8", "8xH100", "cpu:4", "2xT4", "T4 x2",
// "4x80GB". Any other spec goes to select_devices. A plain number means that many of this machine's
// first GPU, or of an H100 80 GB if there is none; "0" means one such GPU.
std::vector<Device> imagine_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                    const char* visible, const std::filesystem::path& root = "/");

}  // namespace lockstep
