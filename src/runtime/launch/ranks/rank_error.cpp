#include "runtime/launch/ranks/rank_error.h"

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} * 1024;

std::string cut(const std::string& text) {
  return text.size() <= most_bytes ? text : text.substr(0, most_bytes) + " …";
}

std::string text_of(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_true(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

nlohmann::json to_json(const RankError& error) {
  return {{"kind", "error"},
          {"what", cut(error.what)},
          {"hint", cut(error.hint)},
          {"frames", cut(error.frames)},
          {"is_users", error.is_users},
          {"out_of_memory", error.out_of_memory}};
}

std::optional<RankError> rank_error(const nlohmann::json& event) {
  if (text_of(event, "kind") != "error") return std::nullopt;
  return RankError{.what = text_of(event, "what"),
                   .hint = text_of(event, "hint"),
                   .frames = text_of(event, "frames"),
                   .is_users = is_true(event, "is_users"),
                   .out_of_memory = is_true(event, "out_of_memory")};
}

}  // namespace lockstep
