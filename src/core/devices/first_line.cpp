#include "core/devices/first_line.h"

#include <fstream>

#include "core/base/text/text.h"

namespace lockstep {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trim(line);
}

}  // namespace lockstep
