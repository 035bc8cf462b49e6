// The real tool with the gbdt recipe, in a folder of its own.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/test_data.h"
#include "fakes/tool.h"

namespace lockstep {

class GbdtRig : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path(LOCKSTEP_BUILD_DIR) /
                                 "lightgbm/lib/lib_lightgbm.so"))
      GTEST_SKIP() << "LightGBM is not there";
  }
  testing::ToolResult tool(const std::vector<std::string>& words) const {
    return testing::run_tool(words, folder());
  }
  // As a job of a batch.
  testing::ToolResult job(const std::vector<std::string>& words) const {
    return testing::run_tool(words, folder(), {{"LOCKSTEP_OUT", (folder() / "out").string()}});
  }
  // Bars of 420 days from 2020 on, twelve months of 28 days a year; the close is a wave.
  void write_prices(const std::string& symbol) const {
    std::string csv = "Date,Open,High,Low,Close,Volume\n";
    for (int day = 0; day < 420; ++day) {
      const double close = 100 + 20 * std::sin(day / 9.0);
      const int month = day / 28 % 12 + 1;
      csv += cat(2020 + day / 336, "-", month < 10 ? "0" : "", month, "-", day % 28 < 9 ? "0" : "",
                 day % 28 + 1, ",", close, ",", close + 1, ",", close - 1, ",", close, ",1000\n");
    }
    std::filesystem::create_directories(folder() / "prices");
    write_file_atomic(folder() / "prices" / (symbol + ".csv"), csv);
  }
  std::filesystem::path folder() const { return folder_.path(); }
  bool exists(const std::string& path) const { return std::filesystem::exists(folder() / path); }
  std::string text(const std::string& path) const { return read_file(folder() / path); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace lockstep
