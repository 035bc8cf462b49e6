// Reads and checks environment variables that describe a world.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/world/world.h"

namespace lockstep {

class WorldVariables {
 public:
  explicit WorldVariables(const std::function<const char*(const char*)>& getenv)
      : getenv_(getenv) {}

  std::optional<std::string> text(const char* name) const;  // nothing if unset or empty
  bool has(const char* name) const { return text(name).has_value(); }
  std::optional<std::string> first_of(std::initializer_list<const char*> names) const;
  std::optional<int> number(const char* name) const;  // throws Error unless in [0, 2^31)
  int required(const char* name, std::string_view because) const;  // throws Error if unset
  std::optional<int> port() const;  // MASTER_PORT; throws Error unless in [1, 65535]

 private:
  const std::function<const char*(const char*)>& getenv_;
};

// Throws Error unless 0 <= rank < size, 0 <= local_rank < local_size <= size.
void check_world(const World& world);

// A port that is the same for all ranks that pass the same text.
int derived_port(std::string_view shared);

}  // namespace lockstep
