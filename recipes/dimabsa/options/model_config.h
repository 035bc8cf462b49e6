// Keys of a model folder's config.json; every fault names the file and the key.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

// A key that is null counts as missing. All throw Error.
class ModelConfig {
 public:
  static constexpr std::int64_t largest_size = 1 << 20;

  // Refers to `config`, which must be an object.
  ModelConfig(const nlohmann::json& config, std::string where);

  // From `least` to `most`; required if there is no default.
  std::int64_t integer(const char* key, std::int64_t least,
                       std::optional<std::int64_t> otherwise = std::nullopt,
                       std::int64_t most = largest_size) const;
  double number(const char* key, double least, double below, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const char* otherwise) const;
  // The words of a list, or of a text with `separator` between them; none if it is missing.
  std::vector<std::string> words(const char* key, char separator) const;

  // "FILE: KEY must be …, but is …".
  [[noreturn]] void refuse(const char* key, const std::string& must,
                           const std::string& hint = "") const;

 private:
  bool has(const char* key) const { return config_.contains(key) && !config_[key].is_null(); }
  std::string shown(const char* key) const;

  const nlohmann::json& config_;
  std::string where_;
};

}  // namespace lockstep::dimabsa
