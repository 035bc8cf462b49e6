// The Error that an action throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace lockstep {

// "WHAT | HINT"; a failure of the test if nothing is thrown.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace lockstep
