// Reads JSON lines. Errors name the file and the line.
#include "recipes/dimabsa/sentences/files/json_line.h"

#include <vector>

#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

const char* type_of(const nlohmann::json& value) {
  if (value.is_string()) return "a text";
  if (value.is_number()) return "a number";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return value.is_null() ? "null" : "true or false";
}

const nlohmann::json& value_at(const nlohmann::json& object, const char* key,
                               const LinePlace& place) {
  const auto found = object.find(key);
  if (found != object.end()) return *found;
  std::vector<std::string> keys;
  for (const auto& [name, value] : object.items()) keys.push_back(name);
  const std::string near = nearest(key, keys);
  throw place.error(cat("there is no key \"", key, "\""),
                    near.empty() ? cat("it has: ", keys.empty() ? "no key" : join(keys, ", "),
                                       "; \"Data in other forms\" in docs/guide/dimabsa.md says "
                                       "what to do with other data")
                                 : cat("is \"", printable(near), "\" meant for it?"));
}

}  // namespace

Error LinePlace::error(const std::string& what, const std::string& hint) const {
  return Error(cat(file, ":", line, ": ", what), hint);
}

nlohmann::json parse_line(std::string_view line, const LinePlace& place) {
  if (invalid_bytes(line) > 0)
    throw place.error("the line is not valid UTF-8", "save the file as UTF-8");
  nlohmann::json object = parse_json(line);
  if (object.is_discarded())
    throw place.error("the line is not JSON",
                      "jsonl has one whole object on each line: {\"ID\": …, \"Text\": …}");
  if (!object.is_object())
    throw place.error(cat("a line must be an object, but is ", type_of(object)),
                      "jsonl has one whole object on each line: {\"ID\": …, \"Text\": …}");
  return object;
}

const std::string& text_at(const nlohmann::json& object, const char* key, const LinePlace& place) {
  const nlohmann::json& value = value_at(object, key, place);
  if (!value.is_string())
    throw place.error(cat("\"", key, "\" must be a text, but is ", type_of(value)));
  return value.get_ref<const std::string&>();
}

const nlohmann::json& list_at(const nlohmann::json& object, const char* key,
                              const LinePlace& place) {
  const nlohmann::json& value = value_at(object, key, place);
  if (!value.is_array())
    throw place.error(cat("\"", key, "\" must be a list, but is ", type_of(value)));
  return value;
}

}  // namespace lockstep::dimabsa
