// Reads and checks the environment variables that describe a world (world.h).
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

  // the variable; nothing if it is unset or empty
  std::optional<std::string> text(const char* name) const;
  bool has(const char* name) const { return text(name).has_value(); }
  // the first of these variables that is set and not empty
  std::optional<std::string> first_of(std::initializer_list<const char*> names) const;
  // nothing if it is unset or empty; throws Error unless in [0, 2^31)
  std::optional<int> number(const char* name) const;
  // Like `number`, but throws Error if the variable is not set. because: the variable that makes it
  // necessary, for the message.
  int required(const char* name, std::string_view because) const;
  // MASTER_PORT; nothing if it is not set; throws Error unless in [1, 65535]
  std::optional<int> port() const;

 private:
  const std::function<const char*(const char*)>& getenv_;
};

// Throws Error unless 0 <= rank < size, 0 <= local_rank < local_size <= size.
void check_world(const World& world);

// Returns a port in [12000, 31999] that is the same for all ranks that pass the same text.
int derived_port(std::string_view shared);

}  // namespace lockstep
