#include "engine/exception_text.h"

#include "base/text.h"

#include <c10/util/Exception.h>

namespace lockstep {

std::string message_of(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  return trim(of_torch != nullptr ? of_torch->what_without_backtrace() : error.what());
}

std::string first_line_of(const std::exception& error) {
  return split(message_of(error), '\n').at(0);
}

std::string frames_of(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  if (of_torch == nullptr || !of_torch->backtrace()) return "";
  return trim(of_torch->backtrace()->get());
}

}  // namespace lockstep
