#include "recipes/gbdt/train/job_results.h"

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/json/json.h"

namespace lockstep::gbdt {
namespace {

using nlohmann::json;

// The value at a JSON pointer, or null.
json at(const json& object, const char* pointer) {
  const json::json_pointer where(pointer);
  return object.contains(where) ? object.at(where) : json();
}

// Parameters are stored as text. Returns a number if the text is one.
json number_or_text(const json& value) {
  if (!value.is_string()) return value;
  const json number = parse_json(value.get_ref<const std::string&>());
  return number.is_number() ? number : value;
}

}  // namespace

json job_results(const json& metadata) {
  json results = {{"data", at(metadata, "/data/hash")},
                  {"device", at(metadata, "/library/device")},
                  {"trees", at(metadata, "/model/trees")},
                  {"best_iteration", at(metadata, "/model/best_iteration")},
                  {"model_hash", at(metadata, "/model/trees_hash")}};
  const json used = at(metadata, "/parameters/used"), asked = at(metadata, "/parameters/asked");
  for (const auto& [name, value] : asked.items())
    if (used.contains(name)) results["used." + name] = number_or_text(used[name]);
  for (const char* part : {"train", "valid", "test"}) {
    const json rows = at(metadata, (std::string("/sample_counts/") + part).c_str());
    results[std::string("rows.") + part] = rows;
  }
  const bool tested = !at(metadata, "/metrics/test").is_null();
  const json metrics = at(metadata, tested ? "/metrics/test" : "/metrics/validation");
  for (const auto& [name, value] : metrics.items())
    if (value.is_number_float()) results[(tested ? "test." : "validation.") + name] = value;
  return results;
}

}  // namespace lockstep::gbdt
