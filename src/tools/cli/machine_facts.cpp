#include "tools/cli/machine_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "core/devices/cpu_model.h"
#include "tools/cli/context.h"

namespace lockstep::cli {
nlohmann::json machine_facts(const std::vector<Device>& gpus) {
  utsname system{};
  ::uname(&system);
  const HostInfo host = host_info();
  nlohmann::json facts = {{"host", host_name()},
                          {"system", cat(system.sysname, " ", system.release, " ", system.machine)},
                          {"cpu", cpu_model()},
                          {"cores", host.cores},
                          {"memory_bytes", host.memory_bytes},
                          {"gpus", nlohmann::json::array()},
                          {"driver", nullptr}};
  if (const std::string driver = probe().driver_version(); !driver.empty())
    facts["driver"] = driver;
  for (const Device& gpu : gpus)
    facts["gpus"].push_back({{"uuid", gpu.uuid}, {"name", gpu.name}, {"index", gpu.index}});
  return facts;
}

std::optional<double> busy_s(const std::filesystem::path& stat) {
  std::ifstream file(stat);
  std::string word, line;
  if (!(file >> word) || word != "cpu" || !std::getline(file, line)) return std::nullopt;
  // Fields: user nice system idle iowait irq softirq steal. Times of guests are part of user.
  std::istringstream fields(line);
  double ticks = 0, busy = 0;
  int place = 0;
  for (; place < 8 && fields >> ticks; ++place)
    if (place != 3 && place != 4) busy += ticks;
  const auto per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return place >= 4 && per_s > 0 ? std::optional(busy / per_s) : std::nullopt;
}

std::optional<double> load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? std::optional(load) : std::nullopt;
}

}  // namespace lockstep::cli
