// Scripts of Python where a command or a recipe stands.
#include "cli/script_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

std::string answer(const std::vector<std::string>& words) {
  return error_if_any([&] { check_no_script(words); });
}

TEST(ScriptCommand, IsAnsweredWithTheLineThatRunsItOncePerDevice) {
  EXPECT_EQ(answer({"train", "train.py", "--device", "cuda", "--num_episodes", "1000"}),
            "lockstep train takes a recipe or a plugin, but train.py is a script | to run a script "
            "once per GPU: lockstep launch python3 train.py --device cuda --num_episodes 1000");
  EXPECT_EQ(answer({"train.py", "--name", "a b"}),
            "there is no command train.py | to run a script once per GPU: lockstep launch python3 "
            "train.py --name 'a b'");
  EXPECT_THAT(answer({"python", "-m", "tools.train"}), HasSubstr("launch python3 -m tools.train"));
  EXPECT_THAT(answer({"train", "python3", "run.py"}), HasSubstr("launch python3 run.py"));
  EXPECT_THAT(answer({"torchrun", "--nproc_per_node", "2", "run.py", "--lr", "1"}),
              HasSubstr("launch python3 run.py --lr 1"));
}

TEST(ScriptCommand, OtherLinesAreLeftAlone) {
  EXPECT_EQ(answer({"launch", "python3", "train.py"}), "");
  EXPECT_EQ(answer({"train", "textgen", "data.path=a.py"}), "");
  EXPECT_EQ(answer({"batch", "run", "train.py"}), "");
  EXPECT_EQ(answer({"torchrun"}), "");
}

}  // namespace
}  // namespace lockstep::cli
