// Devices that are not there, so that a plan can be printed for any machine.
#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "devices/cpu_ranks.h"
#include "devices/gpu_catalogue.h"
#include "devices/gpu_probe.h"
#include "devices/gpu_support.h"
#include "devices/visible_gpus.h"

namespace lockstep {
namespace {

constexpr int most_devices = 4096;

Device as_device(const GpuModel& model) {
  return {.kind = DeviceKind::cuda,
          .name = std::string(model.name),
          .memory_bytes = static_cast<std::uint64_t>(model.memory_mib) << 20,
          .compute_major = model.compute_major,
          .compute_minor = model.compute_minor};
}

// "80GB": any GPU of that size that has bf16 (sm_80). Cards are named after their GiB.
std::optional<Device> of_memory(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::size_t digits = upper.find_first_not_of("0123456789");
  const std::string unit = digits == upper.npos ? "" : trim(upper.substr(digits));
  if (unit != "GB" && unit != "GIB" && unit != "G") return std::nullopt;
  const auto size = whole_number<int>(upper.substr(0, digits), 1, most_devices);
  if (!size) return std::nullopt;
  return Device{.kind = DeviceKind::cuda,
                .name = cat(*size, " GB GPU"),
                .memory_bytes = static_cast<std::uint64_t>(*size) << 30,
                .compute_major = 8,
                .compute_minor = 0};
}

Device named(const std::string& model) {
  if (auto device = of_memory(model)) return *device;
  if (const GpuModel* known = find_gpu_model(model)) return as_device(*known);
  std::vector<std::string> keys;
  for (const GpuModel& each : gpu_catalogue()) keys.emplace_back(each.key);
  const std::string near = nearest(model, keys);
  throw Error(
      cat("unknown GPU \"", model, "\"", near.empty() ? "" : cat("; did you mean ", near, "?")),
      cat("known are ", join(keys, ", "), "; or give its memory, as in 4x80GB"));
}

Device first_of_this_machine(GpuProbe& probe, const char* visible) {
  const std::vector<GpuInfo> left = visible_gpus(probe.gpus(), visible);
  if (left.empty()) return as_device(*find_gpu_model("H100"));
  return {.kind = DeviceKind::cuda,
          .name = left[0].name,
          .memory_bytes = left[0].memory_total_bytes.value_or(0),
          .compute_major = left[0].compute_major,
          .compute_minor = left[0].compute_minor};
}

std::vector<Device> repeat(Device device, int count, const HostInfo& host,
                           const std::string& spec) {
  if (count < 1 || count > most_devices) {
    throw Error(
        cat("the number of devices must be from 1 to ", most_devices, ", but is \"", spec, "\""),
        "for example --devices 8, --devices 8xH100 or --devices cpu:4");
  }
  if (too_old(device.compute_major, device.compute_minor)) {
    throw Error(cat(device.name, " is too old: its compute capability is ", device.compute_major,
                    ".", device.compute_minor, ", but must be at least ", oldest_compute_major, ".",
                    oldest_compute_minor, " (T4, RTX 20)"));
  }
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    device.index = i;
    device.threads = std::max(1, host.cores / count);
    devices.push_back(device);
  }
  return devices;
}

}  // namespace

std::vector<Device> imagine_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                    const char* visible, const std::filesystem::path& root) {
  const std::string wanted = trim(spec);
  const std::size_t times = wanted.find_first_not_of("0123456789");
  if (!wanted.empty() && times == wanted.npos) {
    const int count = whole_number<int>(wanted).value_or(0);
    return repeat(first_of_this_machine(probe, visible), count, host, wanted);
  }
  if (times > 0 && times != wanted.npos && (wanted[times] == 'x' || wanted[times] == 'X')) {
    const int count = whole_number<int>(wanted.substr(0, times)).value_or(0);
    return repeat(named(trim(wanted.substr(times + 1))), count, host, wanted);
  }
  return select_devices(wanted, probe, host, visible, 0, root);
}

}  // namespace lockstep
