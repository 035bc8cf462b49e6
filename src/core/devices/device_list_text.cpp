// Prints the list of devices for users and as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/text/columns.h"
#include "core/base/text/text.h"
#include "core/devices/device_list.h"
#include "core/devices/gpus/gpu_support.h"

namespace lockstep {
namespace {

using Row = std::vector<std::string>;

std::string or_unknown(const std::string& text) { return text.empty() ? "?" : text; }

template <class Number>
std::string or_unknown(const std::optional<Number>& number) {
  return number ? cat(*number) : "?";
}

std::string memory_text(const GpuInfo& gpu) {
  return gpu.memory_total_bytes ? format_bytes(static_cast<double>(*gpu.memory_total_bytes)) : "?";
}

std::string capability(const GpuInfo& gpu) {
  return gpu.compute_major == 0 ? "" : cat(gpu.compute_major, ".", gpu.compute_minor);
}

std::string numbers_table(const DeviceList& list) {
  std::vector<Row> rows{{"GPU", "cuda", "device file", "PCI", "NUMA", "near CPUs", "UUID"}};
  for (const ListedGpu& one : list.gpus)
    rows.push_back({cat(one.gpu.index),
                    one.cuda          ? cat(*one.cuda)
                    : list.cuda_known ? "-"
                                      : "?",
                    or_unknown(one.device_file), or_unknown(one.gpu.pci_bus_id),
                    or_unknown(one.numa_node), or_unknown(one.cpus), or_unknown(one.gpu.uuid)});
  return columns(rows);
}

std::string power_limit_text(const GpuDetails& details) {
  if (!details.power_limit_w) return "?";
  const std::string limit = fixed(*details.power_limit_w, 0);
  const std::string usual =
      fixed(details.default_power_limit_w.value_or(*details.power_limit_w), 0);
  return limit == usual ? cat(limit, " W") : cat(limit, " W, not ", usual);
}

std::string properties_table(const DeviceList& list) {
  std::vector<Row> rows{
      {"GPU", "name", "memory", "capability", "power limit", "compute mode", "MIG", "opens"}};
  for (const ListedGpu& one : list.gpus) {
    const GpuDetails& details = one.details;
    rows.push_back({cat(one.gpu.index), or_unknown(one.gpu.name), memory_text(one.gpu),
                    or_unknown(capability(one.gpu)), power_limit_text(details),
                    or_unknown(details.compute_mode),
                    !details.mig   ? "?"
                    : *details.mig ? "on"
                                   : "off",
                    one.device_file.empty() ? "?"
                    : one.denied.empty()    ? "yes"
                                            : "no"});
  }
  return columns(rows);
}

std::string pcie_text(const std::optional<PciePath>& path) {
  if (!path) return "";
  switch (*path) {
    case PciePath::same_board:
      return "on one board";
    case PciePath::one_switch:
      return "through a PCIe switch";
    case PciePath::several_switches:
      return "through several PCIe switches";
    case PciePath::host_bridge:
      return "through a PCIe host bridge";
    case PciePath::same_cpu:
      return "through the CPU of both";
    case PciePath::between_cpus:
      return "from one CPU to another";
  }
  return "";
}

std::string link_text(const GpuPair& pair) {
  if (pair.nvlinks == 0) return pair.pcie ? pcie_text(pair.pcie) : "not known";
  return cat(pair.nvlinks, pair.nvlinks == 1 ? " NVLink" : " NVLinks",
             pair.nvlink_version.empty() ? "" : " " + pair.nvlink_version,
             pair.by_switch ? " to a switch" : "");
}

// Prints one line for all pairs with the same kind of link.
std::string links_text(const std::vector<GpuPair>& pairs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const GpuPair& pair : pairs) {
    const std::string kind = link_text(pair);
    auto known = std::find_if(kinds.begin(), kinds.end(),
                              [&](const auto& other) { return other.first == kind; });
    if (known == kinds.end()) known = kinds.insert(kinds.end(), {kind, {}});
    known->second.push_back(cat(pair.a, "-", pair.b));
  }
  std::string text;
  for (const auto& [kind, members] : kinds)
    text +=
        cat("links of ", kinds.size() == 1 && pairs.size() > 1 ? "every pair" : join(members, ", "),
            ": ", kind, "\n");
  return text;
}

std::string cpu_text(const DeviceList& list) {
  const std::size_t ranks = list.cpu.size();
  return cat("CPU: ", list.host.cores, list.host.cores == 1 ? " core" : " cores", ", ",
             format_bytes(static_cast<double>(list.host.memory_bytes)), "; as devices ", ranks,
             ranks == 1 ? " rank" : " ranks", " of ", list.cpu[0].threads,
             list.cpu[0].threads == 1 ? " thread" : " threads", " (--devices cpu)\n");
}

template <class Value>
nlohmann::json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json or_null(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

nlohmann::json gpu_json(const ListedGpu& one, bool cuda_known) {
  const GpuInfo& gpu = one.gpu;
  const bool opens_known = !one.device_file.empty();
  return {{"nvml_index", gpu.index},
          {"cuda_ordinal", or_null(one.cuda)},
          {"cuda_visible", cuda_known ? nlohmann::json(one.cuda.has_value()) : nlohmann::json()},
          {"uuid", or_null(gpu.uuid)},
          {"pci_bus_id", or_null(gpu.pci_bus_id)},
          {"device_file", or_null(one.device_file)},
          {"opens", opens_known ? nlohmann::json(one.denied.empty()) : nlohmann::json()},
          {"denied", or_null(one.denied)},
          {"numa_node", or_null(one.numa_node)},
          {"cpus", or_null(one.cpus)},
          {"name", or_null(gpu.name)},
          {"memory_bytes", or_null(gpu.memory_total_bytes)},
          {"memory_used_bytes", or_null(gpu.memory_used_bytes)},
          {"compute_capability", or_null(capability(gpu))},
          {"power_limit_w", or_null(one.details.power_limit_w)},
          {"default_power_limit_w", or_null(one.details.default_power_limit_w)},
          {"compute_mode", or_null(one.details.compute_mode)},
          {"mig", or_null(one.details.mig)},
          {"ecc_uncorrected", or_null(one.details.ecc_uncorrected)},
          {"mig_instance", gpu.uuid.starts_with("MIG-")},
          {"fault", or_null(gpu.fault)}};
}

nlohmann::json pair_json(const GpuPair& pair) {
  return {{"gpus", {pair.a, pair.b}},
          {"nvlinks", pair.nvlinks},
          {"nvlink_version", or_null(pair.nvlink_version)},
          {"nvswitch", pair.by_switch},
          {"pcie", or_null(pcie_text(pair.pcie))}};
}

}  // namespace

std::string to_text(const DeviceList& list) {
  std::string text;
  if (list.gpus.empty()) {
    text = cat("no GPU: ", list.no_gpus, "\n");
  } else {
    text = cat("NVIDIA driver ", or_unknown(list.driver), ", CUDA ",
               list.cuda_version > 0 ? cuda_text(list.cuda_version) : "?", "\n\n",
               numbers_table(list), "\n", properties_table(list), "\n");
    if (!list.pairs.empty()) text += links_text(list.pairs);
  }
  text += cpu_text(list);
  for (const std::string& note : list.notes) text += cat("note: ", note, "\n");
  return text;
}

nlohmann::json to_json(const DeviceList& list) {
  nlohmann::json gpus = nlohmann::json::array(), pairs = gpus;
  for (const ListedGpu& one : list.gpus) gpus.push_back(gpu_json(one, list.cuda_known));
  for (const GpuPair& pair : list.pairs) pairs.push_back(pair_json(pair));
  return {{"driver", or_null(list.driver)},
          {"cuda",
           list.cuda_version > 0 ? nlohmann::json(cuda_text(list.cuda_version)) : nlohmann::json()},
          {"no_gpus", or_null(list.no_gpus)},
          {"gpus", std::move(gpus)},
          {"links", std::move(pairs)},
          {"cpu",
           {{"cores", list.host.cores},
            {"memory_bytes", list.host.memory_bytes},
            {"ranks", list.cpu.size()},
            {"threads", list.cpu[0].threads}}},
          {"notes", list.notes}};
}

}  // namespace lockstep
