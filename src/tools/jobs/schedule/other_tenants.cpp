#include "tools/jobs/schedule/other_tenants.h"

#include <algorithm>
#include <utility>

#include "core/base/text/text.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/monitor/process_info.h"

namespace lockstep {
namespace {

constexpr std::size_t most_letters = 60;
// a job that has ended may leave this much behind; a driver's own memory is less
constexpr double left_behind_bytes = 0x1p29;

// Names the process that uses a device. A pid from another PID namespace matches no process here,
// so its program is unknown.
std::string tenant_name(const GpuProcess& process) {
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

std::string OtherTenants::on(int device) {
  if (!reader_) return {};
  const std::string& uuid = devices_[static_cast<std::size_t>(device)].uuid;
  for (std::size_t i = 0; i < reader_->gpus().size(); ++i) {
    if (reader_->gpus()[i].uuid != uuid) continue;
    const GpuSample sample = reader_->read(i);
    for (const GpuProcess& process : sample.processes)
      if (!process.graphics && attempt_of(process.pid).empty()) return tenant_name(process);
    const Reading& used = sample[GpuMetric::memory_used];
    if (used.state != ReadingState::measured || !sample.processes.empty()) return {};
    double& unused = unused_bytes_.try_emplace(device, used.value).first->second;
    unused = std::min(unused, used.value);
    if (used.value > unused + left_behind_bytes)
      return cat("nobody, but ", fixed((used.value - unused) / 0x1p30, 1),
                 " GiB of its memory have not come back");
    return {};
  }
  return {};
}

}  // namespace lockstep
