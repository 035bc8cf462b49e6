// The symbols of liblockstep.so, which shares a process with plugins, LibTorch and whatever these
// bring.
#include "checkout_paths.h"
#include "fakes/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

namespace lockstep {
namespace {

TEST(Exports, AreThoseOfLockstepAndInlineFunctionsOfLibTorch) {
  const TemporaryDirectory folder;
  const testing::ToolResult listed =
      testing::ToolProcess({"nm", "--dynamic", "--defined-only", "--format=just-symbols",
                            LOCKSTEP_BUILD_DIR "/liblockstep.so"},
                           folder.path())
          .wait();
  ASSERT_EQ(listed.code, 0) << listed.err;
  const std::regex known(
      "lockstep_.*|_Z(N[KRO]*|T[VTISCWH]N|T[hvc].*_NK?|GVN|GVZNK?|ZNK?)"
      "(8lockstep|3c10|2at|5torch|6caffe2).*");
  std::istringstream lines(listed.out);
  std::string others;
  int of_lockstep = 0;
  for (std::string symbol; std::getline(lines, symbol);) {
    if (!std::regex_match(symbol, known)) others += symbol + "\n";
    if (symbol.find("8lockstep") != symbol.npos) ++of_lockstep;
  }
  EXPECT_EQ(others, "");
  EXPECT_GT(of_lockstep, 1000);
}

}  // namespace
}  // namespace lockstep
