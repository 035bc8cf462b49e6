// Defines a place in a file: its path and line, as messages show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

struct Place {
  std::string file{};
  std::size_t line = 0;  // 0 if the place is the whole file

  // returns "jobs.toml, line 3"
  std::string text() const { return line ? cat(file, ", line ", line) : file; }
};

// Runs the action and returns its result. If the action throws an Error whose message does not
// begin with the file's path, puts the place before the message.
template <class Action>
auto at_place(const Place& place, Action action) {
  try {
    return action();
  } catch (const Error& error) {
    if (place.file.empty() || std::string_view(error.what()).starts_with(place.file)) throw;
    throw Error(cat(place.text(), ": ", error.what()), error.hint());
  }
}

}  // namespace lockstep
