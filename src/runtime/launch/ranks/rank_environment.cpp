#include "runtime/launch/ranks/rank_environment.h"

#include <unistd.h>

#include <filesystem>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

std::string visible_devices(const LaunchSpec& spec, const Device& device) {
  if (device.kind == DeviceKind::cpu) return "";
  if (spec.one_gpu_visible) return device.uuid;
  std::vector<std::string> names = spec.gpu_names;
  if (names.empty())
    for (const Device& each : spec.devices) names.push_back(each.uuid);
  return join(names, ",");
}

// Adds other variables of torchrun that programs read. No agent serves a store here.
void add_torchruns(const LaunchSpec& spec, int rank,
                   std::map<std::string, std::string>& variables) {
  const std::string error = cat("rank", rank, ".error.json");
  variables["GROUP_WORLD_SIZE"] = "1";
  variables["ROLE_NAME"] = "default";
  variables["ROLE_RANK"] = cat(rank);
  variables["ROLE_WORLD_SIZE"] = cat(spec.devices.size());
  variables["TORCHELASTIC_RUN_ID"] = spec.run_id;
  variables["TORCHELASTIC_RESTART_COUNT"] = cat(spec.restart);
  variables["TORCHELASTIC_MAX_RESTARTS"] = cat(spec.most_restarts);
  variables["TORCHELASTIC_ERROR_FILE"] = std::filesystem::absolute(spec.log_dir / error).string();
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  variables.emplace("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1");
  // Without this, Python buffers output to a pipe.
  variables.emplace("PYTHONUNBUFFERED", "1");
}

// Removes variables of an outer launcher, because they describe its processes and not ours.
void forget_outer_launchers(std::map<std::string, std::string>& variables) {
  std::erase_if(variables, [](const auto& variable) {
    return variable.first.starts_with("TORCHELASTIC_") || variable.first == "LOCKSTEP_STORE_FD" ||
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
  }
  if (device.kind == DeviceKind::cpu || !spec.run_id.empty())
    variables.emplace("OMP_NUM_THREADS", cat(device.threads));
  // Threads that wait in a loop would take cores from other ranks, which still compute.
  if (device.kind == DeviceKind::cpu && !variables.contains("GOMP_SPINCOUNT"))
    variables.emplace("OMP_WAIT_POLICY", "PASSIVE");
  if (!spec.run_id.empty()) add_torchruns(spec, rank, variables);
  if (rendezvous.store_fd >= 0) variables["LOCKSTEP_STORE_FD"] = cat(rendezvous.store_fd);
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
