// The error for an option that has no effect because of another option.
#pragma once

#include "core/base/error.h"
#include "core/config/options.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace lockstep {

// The error for the option `key`, which has no effect.
struct NoEffect : Error {
  NoEffect(std::string option, const std::string& what, const std::string& hint)
      : Error(what, hint), key(std::move(option)) {}
  std::string key;
};

// Throws NoEffect for the first option among `keys` that a command-line argument sets. because: the
// reason, such as "model.path is set". Config files may set such options, because a file may be
// used with several commands.
void check_no_effect(const OptionTable& table, const std::string& because,
                     std::initializer_list<std::string_view> keys);

}  // namespace lockstep
