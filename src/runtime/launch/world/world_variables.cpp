#include "runtime/launch/world/world_variables.h"

#include <cstdint>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {

std::optional<std::string> WorldVariables::text(const char* name) const {
  const char* value = getenv_(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

std::optional<std::string> WorldVariables::first_of(
    std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (auto value = text(name)) return value;
  }
  return std::nullopt;
}

std::optional<int> WorldVariables::number(const char* name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const std::optional<int> result = whole_number<int>(*value);
  if (!result)
    throw Error(cat(name, " must be a whole number, but is \"", *value, "\""),
                "it is set by the program that starts the ranks; unset it to run without one");
  return result;
}

int WorldVariables::required(const char* name, std::string_view because) const {
  if (const auto value = number(name)) return *value;
  throw Error(cat(name, " must be set, since ", because, " is"),
              cat("start all ranks by one launcher, or unset ", because));
}

std::optional<int> WorldVariables::port() const {
  const auto value = number("MASTER_PORT");
  if (value && (*value < 1 || *value > 65535)) {
    throw Error(cat("MASTER_PORT must be from 1 to 65535, but is ", *value));
  }
  return value;
}

void check_world(const World& world) {
  auto check = [&](bool good, const auto&... what) {
    if (!good) {
      throw Error(cat("the environment of ", world.source, " contradicts itself: ", what...),
                  "are variables of two launchers mixed?");
    }
  };
  check(world.rank < world.size, "rank ", world.rank, " of ", world.size, " ranks");
  check(world.local_rank < world.local_size, "local rank ", world.local_rank, " of ",
        world.local_size, " ranks on this host");
  check(world.local_size <= world.size, world.local_size, " ranks on this host of ", world.size);
}

int derived_port(std::string_view shared) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const unsigned char byte : shared) hash = (hash ^ byte) * 1099511628211u;
  // Below 32768, where systems begin to assign ports themselves.
  return 12000 + static_cast<int>((hash >> 16) % 20000);
}

}  // namespace lockstep
