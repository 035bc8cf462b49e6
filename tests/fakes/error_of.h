// The Error that an action throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

namespace lockstep {

// A failure of the test, and an Error without a text, if nothing is thrown.
template <class Action>
Error thrown_by(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error("");
}

// "WHAT | HINT"; a failure of the test if nothing is thrown.
template <class Action>
std::string error_of(Action action) {
  const Error error = thrown_by(action);
  return *error.what() == '\0' ? "" : std::string(error.what()) + " | " + error.hint();
}

// "WHAT | HINT"; empty if nothing is thrown.
template <class Action>
std::string error_if_any(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

}  // namespace lockstep
