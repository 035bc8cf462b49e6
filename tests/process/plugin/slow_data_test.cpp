// The progress line of a run that waits for its data tells the truth to the end, where no step
// waits any more.
#include "checkout_paths.h"
#include "fakes/tool.h"
#include "runtime/run/events/events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;

// The number before `sign`, in the last line that has it after `word`.
double last_number(const std::string& text, const std::string& word, char sign) {
  const std::size_t at = text.rfind(word);
  if (at == text.npos) return -1;
  const std::size_t end = text.find(sign, at);
  return std::stod(text.substr(at + word.size(), end - at - word.size()));
}

// 12 samples of 3 ms a step, loaded by one thread: at most 333 a second.
TEST(SlowData, IsInTheLastProgressLineAsInTheSum) {
  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtoy-plugin.so";
  const ToolResult trained =
      run_tool({"train", "toy", "--plugin", plugin, "--devices", "cpu:1", "--name", "slow",
                "stop.steps=60", "data.sample_ms=3", "data.threads=1"},
               folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  nlohmann::json last, end;
  for (const nlohmann::json& event : read_events(folder.path() / "runs/slow/events.jsonl")) {
    if (event.at("kind") == "step") last = event;
    if (event.at("kind") == "end") end = event;
  }
  const double rate = end.at("units_per_s");
  EXPECT_LE(rate, 340);
  EXPECT_LE(last.at("units_per_s").get<double>(), 1.3 * rate);
  EXPECT_GE(last.at("units_per_s").get<double>(), rate / 1.3);
  EXPECT_GE(last_number(trained.err, "  data ", '%'), 50) << trained.err;
}

}  // namespace
}  // namespace lockstep
