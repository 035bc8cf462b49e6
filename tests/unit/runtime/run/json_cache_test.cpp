// What is remembered beside the runs.
#include "runtime/run/events/json_cache.h"

#include <gtest/gtest.h>

#include "run_fixtures.h"

namespace lockstep {
namespace {

TEST(JsonCache, RemembersByKeyAndMakesItsFolder) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / ".cache" / "some.json";
  EXPECT_EQ(read_json_cache(file), nlohmann::json::object());
  remember_in_cache(file, "a", 1);
  remember_in_cache(file, "b", {{"x", 2}});
  remember_in_cache(file, "a", 3);
  EXPECT_EQ(read_json_cache(file), nlohmann::json::parse(R"({"a": 3, "b": {"x": 2}})"));
}

TEST(JsonCache, TakesADamagedFileForAnEmptyOne) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "some.json";
  const std::string deep = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  for (const char* damaged : {"", "{", "[1]", "3", deep.c_str()}) {
    put(file, damaged);
    EXPECT_EQ(read_json_cache(file), nlohmann::json::object()) << damaged;
  }
  remember_in_cache(file, "a", 1);
  EXPECT_EQ(read_json_cache(file), nlohmann::json::parse(R"({"a": 1})"));
}

}  // namespace
}  // namespace lockstep
