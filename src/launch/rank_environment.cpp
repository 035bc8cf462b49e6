#include "launch/rank_environment.h"

#include <unistd.h>

#include "base/text.h"

namespace lockstep {
namespace {

std::string visible_devices(const LaunchSpec& spec, const Device& device) {
  if (device.kind == DeviceKind::cpu) return "";
  if (spec.one_gpu_visible) return device.uuid;
  std::vector<std::string> uuids;
  for (const Device& each : spec.devices) uuids.push_back(each.uuid);
  return join(uuids, ",");
}

// What an outer launcher said about the processes that it started; ours are others.
void forget_outer_launchers(std::map<std::string, std::string>& variables) {
  std::erase_if(variables, [](const auto& variable) {
    return variable.first.starts_with("TORCHELASTIC_") || variable.first == "LOCKSTEP_LISTEN_FD" ||
           variable.first == "LOCKSTEP_EVENTS_FD" || variable.first == "LOCKSTEP_HEARTBEAT_FD" ||
           variable.first == "LOCKSTEP_START";
  });
}

}  // namespace

std::map<std::string, std::string> this_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != text.npos && equals > 0) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

std::map<std::string, std::string> rank_environment(
    const LaunchSpec& spec, int rank, const Rendezvous& rendezvous,
    const std::map<std::string, std::string>& inherited) {
  const Device& device = spec.devices[static_cast<std::size_t>(rank)];
  std::map<std::string, std::string> variables = inherited;
  forget_outer_launchers(variables);
  for (const auto& [name, value] : spec.environment) variables[name] = value;

  variables["RANK"] = variables["LOCAL_RANK"] = cat(rank);
  variables["WORLD_SIZE"] = variables["LOCAL_WORLD_SIZE"] = cat(spec.devices.size());
  variables["GROUP_RANK"] = "0";
  variables["MASTER_ADDR"] = "127.0.0.1";
  variables["MASTER_PORT"] = cat(rendezvous.port);
  variables["CUDA_VISIBLE_DEVICES"] = visible_devices(spec, device);
  if (device.kind == DeviceKind::cuda) {
    variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
    variables.emplace("NCCL_SOCKET_IFNAME", "lo");
  } else {
    variables.emplace("OMP_NUM_THREADS", cat(device.threads));
  }
  if (rank == 0 && rendezvous.listen_fd >= 0) {
    variables["LOCKSTEP_LISTEN_FD"] = cat(rendezvous.listen_fd);
  }
  if (rendezvous.events_fd >= 0) variables["LOCKSTEP_EVENTS_FD"] = cat(rendezvous.events_fd);
  if (rendezvous.heartbeat_fd >= 0)
    variables["LOCKSTEP_HEARTBEAT_FD"] = cat(rendezvous.heartbeat_fd);
  return variables;
}

std::vector<std::string> as_assignments(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> assignments;
  for (const auto& [name, value] : variables) assignments.push_back(cat(name, "=", value));
  return assignments;
}

}  // namespace lockstep
