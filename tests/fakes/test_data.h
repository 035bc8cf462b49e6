// Real data that is no part of the repository: tests that want it skip where nobody has it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/text/text.h"

namespace lockstep::testing {

struct TestData {
  std::string path;
  std::string why_not;  // for GTEST_SKIP; empty where it is there
};

// `name` below the folder that the environment variable LOCKSTEP_TEST_DATA names.
inline TestData test_data(const std::string& name) {
  const char* const folder = std::getenv("LOCKSTEP_TEST_DATA");
  if (folder == nullptr || *folder == '\0')
    return {.path = {}, .why_not = cat("LOCKSTEP_TEST_DATA is not set, which would hold ", name)};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {.path = path.string(), .why_not = {}};
  return {.path = {}, .why_not = cat("LOCKSTEP_TEST_DATA=", folder, " holds no ", name)};
}

}  // namespace lockstep::testing
