#include "tools/cli/words/unknown_command.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

std::string unknown_command_hint(const std::string& word) {
  std::vector<Command> commands(3);
  commands[0].name = "evaluate";
  commands[1].name = "compare";
  commands[2].name = "reference";
  commands[2].hidden = true;
  return unknown_command(commands, word).hint();
}

TEST(UnknownCommand, OtherProgramsWordsNameTheCommandHere) {
  EXPECT_EQ(
      unknown_command_hint("run"),
      "lockstep runs lists runs; lockstep train RECIPE trains; lockstep launch PROGRAM runs a "
      "script of yours on every GPU");
  for (const char* word : {"inference", "infer", "Inference", "sample"})
    EXPECT_EQ(unknown_command_hint(word), "lockstep predict RUN INPUT makes outputs") << word;
  for (const char* word : {"eval", "validate"})
    EXPECT_EQ(unknown_command_hint(word), "lockstep evaluate RUN computes validation metrics");
  EXPECT_EQ(unknown_command_hint("test"),
            "lockstep evaluate RUN computes validation metrics; lockstep predict RUN INPUT makes "
            "outputs");
}

TEST(UnknownCommand, HiddenCommandsAreNotProposed) {
  EXPECT_EQ(unknown_command_hint("compere"), "did you mean lockstep compare?");
  EXPECT_EQ(unknown_command_hint("referense"), "see lockstep --help");
}

}  // namespace
}  // namespace lockstep::cli
