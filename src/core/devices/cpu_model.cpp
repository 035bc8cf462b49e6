#include "core/devices/cpu_model.h"

#include <fstream>

#include "core/base/text/text.h"

namespace lockstep {

std::string cpu_model_of(const std::filesystem::path& cpuinfo) {
  std::ifstream in(cpuinfo);
  std::string line, implementer;
  while (std::getline(in, line)) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "model name") return value;
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part" && !implementer.empty()) return cat("CPU ", implementer, "/", value);
  }
  return "";
}

std::string cpu_model() { return cpu_model_of("/proc/cpuinfo"); }

}  // namespace lockstep
