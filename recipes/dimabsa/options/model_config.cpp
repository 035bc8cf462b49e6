// Reads values from a model's configuration and checks their types.
#include "recipes/dimabsa/options/model_config.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::dimabsa {

using nlohmann::json;

ModelConfig::ModelConfig(const json& config, std::string where)
    : config_(config), where_(std::move(where)) {
  if (!config.is_object()) throw Error(cat(where_, " must be a JSON object"));
}

void ModelConfig::refuse(const char* key, const std::string& must, const std::string& hint) const {
  throw Error(cat(where_, ": ", key, " must be ", must, ", but is ", shown(key)), hint);
}

std::string ModelConfig::shown(const char* key) const {
  constexpr std::size_t longest = 80;
  if (!has(key)) return "missing";
  const json& value = config_[key];
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > longest ? "too long a text" : printable(text);
}

std::int64_t ModelConfig::integer(const char* key, std::int64_t least,
                                  std::optional<std::int64_t> otherwise, std::int64_t most) const {
  if (!has(key) && otherwise) return *otherwise;
  if (!has(key) || !config_[key].is_number_integer() || config_[key] < least || config_[key] > most)
    refuse(key, cat("a whole number from ", least, " to ", most));
  return config_[key].get<std::int64_t>();
}

double ModelConfig::number(const char* key, double least, double below, double otherwise) const {
  if (!has(key)) return otherwise;
  const json& value = config_[key];
  if (!value.is_number() || !(value >= least && value < below))
    refuse(key, cat("a number from ", least, " to below ", below));
  return value.get<double>();
}

bool ModelConfig::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!config_[key].is_boolean()) refuse(key, "true or false");
  return config_[key].get<bool>();
}

std::string ModelConfig::text(const char* key, const char* otherwise) const {
  if (!has(key)) return otherwise;
  if (!config_[key].is_string()) refuse(key, "a text");
  return config_[key].get<std::string>();
}

std::vector<std::string> ModelConfig::words(const char* key, char separator) const {
  if (!has(key)) return {};
  const json& value = config_[key];
  if (value.is_string()) return split(value.get<std::string>(), separator);
  std::vector<std::string> all;
  if (!value.is_array()) refuse(key, "a list of words");
  for (const json& word : value) {
    if (!word.is_string()) refuse(key, "a list of words");
    all.push_back(word.get<std::string>());
  }
  return all;
}

}  // namespace lockstep::dimabsa
