#include "runtime/launch/output/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

std::vector<std::string> cut(const std::string& text, std::size_t piece) {
  std::vector<std::string> taken;
  LineSplitter lines([&](std::string_view line) { taken.emplace_back(line); });
  for (std::size_t i = 0; i < text.size(); i += piece) lines.add(text.substr(i, piece));
  lines.finish();
  return taken;
}

TEST(LineSplitter, AreTheSameHoweverTheBytesArrive) {
  const std::string text = "a\n\nlonger line\n\nlast without newline";
  const std::vector<std::string> expected = {"a", "", "longer line", "", "last without newline"};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(cut(text, piece), expected) << piece;
  }
}

TEST(LineSplitter, AreHeldBackUntilTheyEnd) {
  std::vector<std::string> taken;
  LineSplitter lines([&](std::string_view line) { taken.emplace_back(line); });
  lines.add("{\"step\": 1}\n{\"st");
  EXPECT_EQ(taken, (std::vector<std::string>{"{\"step\": 1}"}));
}

TEST(LineSplitter, AreCutBeforeTheyFillMemory) {
  const auto taken = cut(std::string(3 << 20, 'x'), 4096);
  EXPECT_EQ(taken.size(), 3u);
}

}  // namespace
}  // namespace lockstep
