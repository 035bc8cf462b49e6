// Reads the keys of a model folder's config.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

// A key whose value is null is treated as missing. If a value has the wrong type or is out of
// range, the functions throw Error. The Error names the file and the key.
class ModelConfig {
 public:
  static constexpr std::int64_t largest_size = 1 << 20;

  // config: a JSON object, which must outlive this object. Throws Error if it is any other JSON
  // value. where: the name of the file, for messages.
  ModelConfig(const nlohmann::json& config, std::string where);

  // Returns a number in [least, most], or `otherwise` if the key is missing. Throws Error if the
  // key is missing and `otherwise` has no value.
  std::int64_t integer(const char* key, std::int64_t least,
                       std::optional<std::int64_t> otherwise = std::nullopt,
                       std::int64_t most = largest_size) const;
  double number(const char* key, double least, double below, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const char* otherwise) const;
  // Returns the words of a list, or of a string in which `separator` separates them. Returns an
  // empty list if the key is missing.
  std::vector<std::string> words(const char* key, char separator) const;

  // Throws an Error with the text "FILE: KEY must be …, but is …".
  [[noreturn]] void refuse(const char* key, const std::string& must,
                           const std::string& hint = "") const;

 private:
  bool has(const char* key) const { return config_.contains(key) && !config_[key].is_null(); }
  std::string shown(const char* key) const;

  const nlohmann::json& config_;
  std::string where_;
};

}  // namespace lockstep::dimabsa
