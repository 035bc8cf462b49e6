#include "runtime/run/events/json_cache.h"

#include <utility>

#include "core/base/files/files.h"
#include "core/base/json/json.h"

namespace lockstep {

nlohmann::json read_json_cache(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return nlohmann::json::object();
  nlohmann::json cache = parse_json(read_file(file));
  return cache.is_object() ? cache : nlohmann::json::object();
}

void remember_in_cache(const std::filesystem::path& file, const std::string& key,
                       nlohmann::json value) {
  nlohmann::json cache = read_json_cache(file);
  cache[key] = std::move(value);
  make_directories(file.parent_path());
  write_file_atomic(file, cache.dump(1));
}

}  // namespace lockstep
