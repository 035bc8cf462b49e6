#include "core/devices/cpu_ranks.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {

std::vector<Device> cpu_ranks(int ranks, const HostInfo& host) {
  std::vector<Device> devices;
  for (int i = 0; i < ranks; ++i) {
    devices.push_back(
        {.kind = DeviceKind::cpu,
         .index = i,
         .name = "CPU",
         .memory_bytes = host.memory_bytes / static_cast<std::uint64_t>(ranks),
         .threads = host.rank_threads > 0 ? host.rank_threads : std::max(1, host.cores / ranks),
         .host_cores = host.cores});
  }
  return devices;
}

std::vector<Device> default_cpu_ranks(const HostInfo& host) {
  return cpu_ranks(host.cores > 1 ? 2 : 1, host);
}

std::optional<std::vector<Device>> parse_cpu_ranks(std::string_view spec, const HostInfo& host) {
  if (spec == "cpu") return default_cpu_ranks(host);
  if (!spec.starts_with("cpu:")) return std::nullopt;
  const std::string_view count = spec.substr(4);
  const auto ranks = whole_number<int>(count, 1, most_cpu_ranks);
  if (!ranks) {
    throw Error(cat("the number of CPU ranks must be from 1 to ", most_cpu_ranks, ", but is \"",
                    count, "\""),
                cat("for example --devices cpu:", host.cores > 1 ? 2 : 1));
  }
  return cpu_ranks(*ranks, host);
}

}  // namespace lockstep
