#include "tools/jobs/schedule/near_cores.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/first_line.h"

namespace lockstep {

std::vector<int> cores_of_list(std::string_view list) {
  constexpr int most_cores = 1 << 16;
  std::vector<int> cores;
  for (const std::string& part : split(std::string(list), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = whole_number<int>(part.substr(0, dash), 0, most_cores);
    const auto last =
        dash == part.npos ? first : whole_number<int>(part.substr(dash + 1), 0, most_cores);
    if (!first || !last) return {};
    for (int core = *first; core <= *last; ++core) cores.push_back(core);
  }
  return cores;
}

std::vector<int> near_cores(const std::string& pci_bus_id, const std::filesystem::path& root) {
  if (pci_bus_id.empty()) return {};
  return cores_of_list(first_line(root / "sys/bus/pci/devices" / pci_bus_id / "local_cpulist"));
}

}  // namespace lockstep
