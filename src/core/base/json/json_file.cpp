#include "core/base/json/json_file.h"

#include <nlohmann/json.hpp>

namespace lockstep {

std::string json_file_text(const nlohmann::json& value) {
  return value.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep
