// A trained run of the plugin that predicts files, and files to predict.
#pragma once

#include "fakes/tool.h"
#include "runtime/run/predictions/prediction_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

namespace fs = std::filesystem;

class Predict : public ::testing::Test {
 protected:
  static std::string plugin() {
    return std::string(LOCKSTEP_BUILD_DIR) + "/tests/libitems-plugin.so";
  }
  static void SetUpTestSuite() {
    folder = new TemporaryDirectory;
    write_file_atomic(folder->path() / "factor.txt", "2\n");
    const auto trained =
        tool({"train", "items", "--plugin", plugin(), "--devices", "cpu:2", "--name", "a",
              "stop.steps=4", "data.path=factor.txt", "ema.decay=0.5"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const fs::path in = folder->path() / "in";
    fs::create_directories(in / "sub");
    fs::create_directories(in / ".hidden");
    for (int i = 0; i < 7; ++i) write_rows(in / ("r" + std::to_string(i) + ".row"), i);
    write_rows(in / "sub" / "deep.ROW", 9);
    write_rows(in / ".hidden" / "no.row", 1);
    write_file_atomic(in / "bad.row", "1 2 3 4 5\n1 2 3\n");
    write_file_atomic(in / "readme.txt", "no input\n");
  }
  static void TearDownTestSuite() { delete folder; }

  static void write_rows(const fs::path& file, int seed) {
    std::string text;
    for (int row = 0; row <= seed; ++row) {
      for (int i = 0; i < 5; ++i) text += std::to_string(0.1 * (seed + 1) * (i - row)) + " ";
      text += "\n";
    }
    write_file_atomic(file, text);
  }
  static testing::ToolResult tool(const std::vector<std::string>& words) {
    return testing::run_tool(words, folder->path());
  }
  static testing::ToolResult shell(const std::string& line) {
    return testing::ToolProcess({"bash", "-c", line}, folder->path()).wait();
  }
  // What the files below a folder hold, by name; without the record of what was made.
  static std::map<std::string, std::string> contents(const fs::path& where) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(where))
      if (entry.is_regular_file())
        if (const fs::path name = entry.path().lexically_relative(where);
            *name.begin() != records_name)
          all[name.string()] = read_file(entry.path());
    return all;
  }

  static inline TemporaryDirectory* folder = nullptr;
};

}  // namespace lockstep
