// Implements `lockstep devices`. It lists every GPU with all of its numbers. With --devices, it
// lists the devices that a run would use.
#include "core/base/text/text.h"
#include "core/devices/device_list.h"
#include "core/devices/gpus/cuda_driver.h"
#include "runtime/launch/launch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/monitor/sampling.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

int list_all(bool json) {
  const DeviceList list = answer_in_time(
      [] {
        return list_devices(probe(), host_info(),
                            {.visible = std::getenv("CUDA_VISIBLE_DEVICES"),
                             .order = std::getenv("CUDA_DEVICE_ORDER"),
                             .cuda_needed = cuda_needed,
                             .ask_cuda = cuda_device_uuids});
      },
      exit_failed);
  print(json ? json_text(to_json(list)) : to_text(list));
  return 0;
}

int list_chosen(const std::string& chosen, bool json) {
  const std::vector<Device> devices =
      answer_in_time([&chosen] { return devices_for(chosen); }, exit_failed);
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const Device& device : devices) {
    nlohmann::json entry{
        {"device", describe(device)}, {"name", device.name}, {"index", device.index}};
    text += describe(device);
    if (device.kind == DeviceKind::cuda) {
      entry["uuid"] = device.uuid;
      entry["pci_bus_id"] = device.pci_bus_id;
      entry["compute_capability"] = cat(device.compute_major, ".", device.compute_minor);
      text += cat("  ", device.uuid, "  sm_", device.compute_major, device.compute_minor);
    } else {
      entry["threads"] = device.threads;
      text += cat("  ", device.threads, device.threads == 1 ? " thread" : " threads");
    }
    if (device.memory_bytes > 0) {
      entry["memory_bytes"] = device.memory_bytes;
      text += "  " + format_bytes(static_cast<double>(device.memory_bytes));
    }
    text += "\n";
    list.push_back(std::move(entry));
  }
  print(json ? json_text(list) : text);
  return 0;
}

int devices_main(const Parsed& parsed) {
  const bool json = parsed.has("--json");
  return parsed.has("--devices") ? list_chosen(parsed.value("--devices"), json) : list_all(json);
}

}  // namespace

Command devices_command() {
  return {.name = "devices",
          .operands = "",
          .summary = "every GPU with all its numbers, its place and its links",
          .flags = {{"--devices", "LIST",
                     "only the devices that a run with this list would use: all, cpu:4, 0,1 or "
                     "UUIDs",
                     "devices"},
                    {"--json", "", "as JSON"}},
          .run = devices_main};
}

}  // namespace lockstep::cli
