#include "jobs/other_tenants.h"

#include <utility>

#include "base/text.h"
#include "jobs/process_tree.h"
#include "monitor/process_info.h"

namespace lockstep {
namespace {

constexpr std::size_t most_letters = 60;

// Numbers of another PID namespace name nobody here: such a process is somebody's, but whose?
std::string name_of(const GpuProcess& process) {
  const auto info = process_info(process.pid);
  if (!info) return cat("process ", process.pid, ", which cannot be seen from here");
  std::string command = info->command;
  if (command.size() > most_letters) command = command.substr(0, most_letters) + "…";
  return cat(command, " (process ", process.pid, ")");
}

}  // namespace

OtherTenants::OtherTenants(std::vector<Device> devices) : devices_(std::move(devices)) {
  if (!devices_.empty()) reader_ = make_nvml_reader();
}

OtherTenants::OtherTenants(std::vector<Device> devices, std::shared_ptr<GpuReader> reader)
    : devices_(std::move(devices)), reader_(std::move(reader)) {}

std::string OtherTenants::on(int device) const {
  if (!reader_) return {};
  const std::string& uuid = devices_[static_cast<std::size_t>(device)].uuid;
  for (std::size_t i = 0; i < reader_->gpus().size(); ++i) {
    if (reader_->gpus()[i].uuid != uuid) continue;
    const GpuSample sample = reader_->read(i);
    for (const GpuProcess& process : sample.processes)
      if (!process.graphics && attempt_of(process.pid).empty()) return name_of(process);
  }
  return {};
}

}  // namespace lockstep
