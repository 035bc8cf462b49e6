#include "planning/options/no_effect.h"

#include "core/base/text/text.h"

#include <algorithm>

namespace lockstep {

void check_no_effect(const OptionTable& table, const std::string& because,
                     std::initializer_list<std::string_view> keys) {
  for (const OptionInfo& option : table.options()) {
    if (std::find(keys.begin(), keys.end(), option.key) == keys.end()) continue;
    if (option.source.kind == ValueSource::Kind::argument)
      throw NoEffect(option.key, cat(option.key, " has no effect: ", because),
                     cat("leave out ", option.key));
  }
}

}  // namespace lockstep
