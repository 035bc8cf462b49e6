// Tests that need LightGBM: skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "core/base/error.h"
#include "recipes/gbdt/lightgbm/library.h"

namespace lockstep::gbdt {

class WithLightGbm : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      library_.emplace(find_lightgbm(""));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::optional<LightGbm> library_;
};

}  // namespace lockstep::gbdt
