// The help of every command: there, readable on 80 columns, with nothing twice.
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "fakes/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::operator+;
using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

class Help : public ::testing::Test {
 protected:
  std::vector<std::string> lines_of(const Words& command) const {
    const ToolResult result = run_tool(command + Words{"--help"}, folder.path());
    EXPECT_EQ(result.code, 0) << join(command, " ") << result.err;
    return split(result.out, '\n');
  }
  // Rows below a heading, up to an empty line: what is named, and the words behind it.
  static std::vector<std::pair<std::string, std::string>> table(
      const std::vector<std::string>& lines, const std::string& heading) {
    std::vector<std::pair<std::string, std::string>> found;
    auto line = std::find(lines.begin(), lines.end(), heading);
    EXPECT_NE(line, lines.end()) << heading;
    for (; line != lines.end() && !line->empty(); ++line)
      if (line->size() > 2 && line->starts_with("  ") && (*line)[2] != ' ')
        found.emplace_back(split(line->substr(2), ' ')[0],
                           trim(line->substr(std::min(line->size(), line->find("  ", 2)))));
    return found;
  }
  static std::vector<std::string> rows(const std::vector<std::string>& lines,
                                       const std::string& heading) {
    std::vector<std::string> names;
    for (const auto& [name, words] : table(lines, heading)) names.push_back(name);
    return names;
  }
  // Commands of one word, and those of two.
  std::vector<Words> commands() const {
    std::vector<Words> all;
    for (const std::string& name : rows(lines_of({}), "Commands:")) {
      const std::vector<std::string> lines = lines_of({name});
      const bool is_group = lines.size() > 2 && lines[2] == "Commands:";
      if (!is_group) all.push_back({name});
      if (is_group)
        for (const std::string& second : rows(lines, "Commands:")) all.push_back({name, second});
    }
    return all;
  }
  TemporaryDirectory folder;
};

TEST_F(Help, OfEveryCommandFitsIntoEightyColumns) {
  std::vector<Words> all = commands();
  EXPECT_GT(all.size(), 25U);
  all.push_back({});
  all.push_back({"batch"});
  for (const Words& command : all)
    for (const std::string& line : lines_of(command))
      EXPECT_LE(cells_of(line), 80) << join(command, " ") << ": " << line;
}

TEST_F(Help, NamesNoCommandAndNoFlagTwiceAndExplainsEachOfThem) {
  std::set<Words> names;
  for (const Words& command : commands()) {
    EXPECT_TRUE(names.insert(command).second) << join(command, " ") << " comes twice";
    const std::vector<std::string> lines = lines_of(command);
    EXPECT_FALSE(lines[0].empty()) << join(command, " ") << " has no summary";
    EXPECT_THAT(lines[2], HasSubstr("Usage: lockstep " + join(command, " ")));
    std::set<std::string> flags;
    for (const auto& [flag, words] : table(lines, "Flags:")) {
      EXPECT_TRUE(flag.starts_with("-")) << join(command, " ") << ": " << flag;
      EXPECT_TRUE(flags.insert(flag).second) << join(command, " ") << " has " << flag << " twice";
      EXPECT_FALSE(words.empty()) << join(command, " ") << " does not explain " << flag;
    }
  }
}

TEST_F(Help, OnWordsOfRecipesIsFoundInTheirTables) {
  const std::pair<Words, const char*> searches[] = {
      {{"textgen"}, "lockstep config textgen"},
      {{"fewshot"}, "lockstep config fewshot"},
      {{"dimabsa"}, "lockstep config dimabsa"},
      {{"num_leaves"}, "An option of gbdt"},
      {{"unet"}, "3D U-Net"},
      {{"3D", "U-Net"}, "3D U-Net"},
      {{"vesuvius"}, "preset=kaggle"},
      {{"T4x2"}, "A preset of fewshot"},
      {{"P100"}, "lockstep plan"},
      {{"num_episodes"}, "stop.episodes=VALUE"},
      {{"stop.episodes"}, "An option of fewshot"},
      {{"reduce", "K_SHOT"}, "episode.k_shot=VALUE"},
      {{"temperature"}, "predict.temperature"},
      {{"batch", "size", "1"}, "Low GPU utilization"},
      {{"batch", "size"}, "batch.global=VALUE x DEVICES"}};
  for (const auto& [words, part] : searches) {
    const ToolResult result = run_tool(Words{"help"} + words, folder.path());
    EXPECT_EQ(result.code, 0) << join(words, " ") << result.err;
    EXPECT_THAT(result.out, HasSubstr(part)) << join(words, " ");
  }
}

TEST_F(Help, OnWhatIsNotKnownNamesWhatIsNear) {
  const ToolResult result = run_tool({"help", "gardiant", "wombats"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no help on gardiant wombats"));
  EXPECT_THAT(run_tool({"help", "protobof"}, folder.path()).err, HasSubstr("Protobuf"));
  const std::pair<const char*, const char*> far[] = {{"overfitting", "everything"},
                                                     {"convergence", "inference"}};
  for (const auto& [asked, word] : far)
    EXPECT_THAT(run_tool({"help", asked}, folder.path()).err, Not(HasSubstr(word))) << asked;
}

TEST_F(Help, OfWhatIsNoCommandIsAnErrorThatNamesTheNearest) {
  const ToolResult result = run_tool({"trian", "--help"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("train"));
}

}  // namespace
}  // namespace lockstep
