#include "worker/words.h"

namespace lockstep {

std::string take(std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != name) continue;
    std::string value = arguments[i + 1];
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return value;
  }
  return "";
}

bool take_flag(std::vector<std::string>& arguments, const std::string& name) {
  return std::erase(arguments, name) > 0;
}

}  // namespace lockstep
