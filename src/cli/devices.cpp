// lockstep devices: what a run would use.
#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

int devices_main(const Parsed& parsed) {
  const std::vector<Device> devices = devices_for(parsed.value("--devices"));
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
  const std::string absent = probe().why_absent();
  if (devices[0].kind == DeviceKind::cpu && !absent.empty()) say("no GPU is used: " + absent);
  print(parsed.has("--json") ? list.dump(2) : text);
  return 0;
}

}  // namespace

Command devices_command() {
  return {.name = "devices",
          .operands = "",
          .summary = "the devices that a run would use",
          .flags = {{"--devices", "LIST", "all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
                    {"--json", "", "as JSON"}},
          .run = devices_main};
}

}  // namespace lockstep::cli
