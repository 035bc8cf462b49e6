// Options that are set beside another one that leaves them without an effect.
#pragma once

#include "core/base/error.h"
#include "core/config/options.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace lockstep {

// The option `key` has no effect.
struct NoEffect : Error {
  NoEffect(std::string option, const std::string& what, const std::string& hint)
      : Error(what, hint), key(std::move(option)) {}
  std::string key;
};

// Throws NoEffect for the first of `keys` that an argument gives: beside what `because` says, such
// as "model.path is set", it does nothing. Files may serve several commands, and so may set it.
void check_no_effect(const OptionTable& table, const std::string& because,
                     std::initializer_list<std::string_view> keys);

}  // namespace lockstep
