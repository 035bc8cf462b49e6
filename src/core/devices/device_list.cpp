#include "core/devices/device_list.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/cpu_ranks.h"
#include "core/devices/first_line.h"
#include "core/devices/gpus/driver_traces.h"
#include "core/devices/gpus/gpu_support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Why this process cannot open the device file. Empty if it can.
std::string denial(const fs::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (fd) return "";
  switch (errno) {
    case ENOENT:
      return "it is not there (a container without this GPU?)";
    case EPERM:
      return "the device rules of this container forbid it";
    case EACCES:
      return "its permissions forbid it";
    default:
      return errno_text(errno);
  }
}

void find_place(const fs::path& root, ListedGpu& listed) {
  const fs::path folder = root / "sys/bus/pci/devices" / listed.gpu.pci_bus_id;
  if (listed.gpu.pci_bus_id.empty()) return;
  const std::string node = first_line(folder / "numa_node");
  // -1 means that the firmware does not report the node.
  if (const auto number = whole_number<int>(node)) listed.numa_node = *number;
  listed.cpus = first_line(folder / "local_cpulist");
}

ListedGpu listed(const GpuInfo& gpu, GpuProbe& probe, const fs::path& root) {
  ListedGpu result{.gpu = gpu, .details = probe.details(gpu.index)};
  if (result.details.minor) {
    const std::string name = cat("nvidia", *result.details.minor);
    result.device_file = "/dev/" + name;
    result.denied = denial(root / "dev" / name);
  }
  find_place(root, result);
  return result;
}

GpuPair joined(const GpuInfo& a, const GpuInfo& b, GpuProbe& probe) {
  GpuPair pair{.a = a.index, .b = b.index, .pcie = probe.path(a.index, b.index)};
  const std::optional<GpuLinks> from = probe.links(a.uuid), to = probe.links(b.uuid);
  if (!from || !to) return pair;
  const auto direct = from->nvlinks.find(b.pci_bus_id);
  if (direct != from->nvlinks.end()) {
    pair.nvlinks = direct->second;
  } else if (from->switch_nvlinks > 0 && to->switch_nvlinks > 0) {
    pair.nvlinks = std::min(from->switch_nvlinks, to->switch_nvlinks);
    pair.by_switch = true;
  }
  if (pair.nvlinks > 0) pair.nvlink_version = from->nvlink_version;
  return pair;
}

std::vector<GpuPair> pairs_of(const std::vector<GpuInfo>& gpus, GpuProbe& probe) {
  std::vector<GpuPair> pairs;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = i + 1; j < gpus.size(); ++j)
      if (gpus[i].index != gpus[j].index) {  // two MIG instances of one GPU are no pair
        const bool known = std::any_of(pairs.begin(), pairs.end(), [&](const GpuPair& pair) {
          return pair.a == gpus[i].index && pair.b == gpus[j].index;
        });
        if (!known) pairs.push_back(joined(gpus[i], gpus[j], probe));
      }
  return pairs;
}

void add_notes(DeviceList& list, GpuProbe& probe, int cuda_needed) {
  for (const ListedGpu& one : list.gpus) {
    if (!one.gpu.fault.empty())
      list.notes.push_back(cat("GPU ", one.gpu.index, " cannot be used: ", one.gpu.fault));
    if (!one.denied.empty())
      list.notes.push_back(
          cat(one.device_file, " of GPU ", one.gpu.index, " cannot be opened: ", one.denied));
    if (too_old(one.gpu.compute_major, one.gpu.compute_minor))
      list.notes.push_back(cat("GPU ", one.gpu.index,
                               " is too old for Lockstep: compute capability ",
                               one.gpu.compute_major, ".", one.gpu.compute_minor, ", at least ",
                               oldest_compute_major, ".", oldest_compute_minor, " is needed"));
    if (one.details.compute_mode == "prohibited")
      list.notes.push_back(
          cat("GPU ", one.gpu.index, " takes no program: its compute mode is prohibited"));
  }
  try {
    check_driver(probe, cuda_needed);
  } catch (const Error& error) {
    list.notes.push_back(cat(error.what(), "; ", error.hint()));
  }
}

}  // namespace

DeviceList list_devices(GpuProbe& probe, const HostInfo& host, const DeviceSurroundings& around) {
  DeviceList list{.driver = probe.driver_version(),
                  .cuda_version = probe.cuda_driver_version(),
                  .cpu = default_cpu_ranks(host),
                  .host = host};
  const std::vector<GpuInfo> gpus = probe.gpus();
  if (gpus.empty()) {
    const std::string why = probe.why_absent(), traces = driver_traces(around.root);
    list.no_gpus = why.empty() ? "the NVIDIA driver shows none" : why;
    if (!traces.empty())
      list.notes.push_back(cat("this machine has NVIDIA hardware (", traces,
                               "), but no GPU is to be had; does nvidia-smi work?"));
    return list;
  }
  for (const GpuInfo& gpu : gpus) list.gpus.push_back(listed(gpu, probe, around.root));
  list.pairs = pairs_of(gpus, probe);
  const CudaOrder order = cuda_order(gpus, around.visible, around.order, around.ask_cuda);
  for (std::size_t i = 0; i < gpus.size(); ++i) list.gpus[i].cuda = order.ordinals[i];
  list.cuda_known = order.known;
  if (!order.note.empty()) list.notes.push_back(order.note);
  add_notes(list, probe, around.cuda_needed);
  return list;
}

}  // namespace lockstep
