#include "backends/exception_text.h"

#include "core/base/text/text.h"

#include <c10/util/Exception.h>

#include <initializer_list>

namespace lockstep {
namespace {

bool holds_all(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (message.find(part) == message.npos) return false;
  return true;
}

}  // namespace

std::string advice_on(const std::string& message) {
  if (holds_all(message, {"running_mean", "to have type"}))
    return "torch's batch norm takes weights and statistics of one type: use lockstep::BatchNorm "
           "(lockstep/training/recipe/batch_norm.h), or precision=fp32";
  for (const char* type : {"BFloat16", "Half"})
    if (holds_all(message, {"same dtype", type}) ||
        holds_all(message, {"should be the same", type}) ||
        holds_all(message, {"expected scalar type", type}))
      return "parameters have the type of context.compute_dtype: cast floating inputs to it, "
             "or set precision=fp32";
  return "";
}

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
