// Defaults, presets, files and arguments overlay each other, and faults name their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "core/config/explain_key.h"
#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of_file(const std::string& text) {
  TomlFile file(text);
  Both both;
  return error_of([&] { both.apply({}, {file.path()}); });
}

TEST(ApplyConfig, OverlaysPresetFilesAndArgumentsInThatOrder) {
  TomlFile first("preset = \"large\"\nseed = 1\n[model]\nwidth = 100\n");
  TomlFile second("seed = 2\n[optimizer]\nlr = 0.5\n");
  Both both;
  both.apply({"optimizer.lr=0.25", "exact=yes"}, {first.path(), second.path()});
  EXPECT_EQ(both.engine.global, 512);  // preset
  EXPECT_EQ(both.toy.width, 100);      // first file over preset
  EXPECT_EQ(both.engine.seed, 2);      // second file over first
  EXPECT_EQ(both.engine.lr, 0.25);     // argument over file
  EXPECT_TRUE(both.engine.exact);
  EXPECT_EQ(both.engine.preset, "large");
  EXPECT_EQ(both.engine.beta, 0.9);  // default
}

TEST(ApplyConfig, LetsTheLastOfTwoSettingsWin) {
  Both both;
  both.apply({"seed=1", "preset=large", "seed=3", "preset=small"});
  EXPECT_EQ(both.engine.seed, 3);
  EXPECT_EQ(both.toy.width, 64);
  EXPECT_EQ(both.engine.global, 8);
}

// A caller that takes several values apart gives one of them as an argument.
TEST(ApplyConfig, PassesOverAListOfAFileThatAnArgumentReplaces) {
  TomlFile file("seed = [1, 2]\n");
  Both both;
  both.apply({"seed=2"}, {file.path()});
  EXPECT_EQ(both.engine.seed, 2);
  EXPECT_THAT(error_of([&] { both.apply({}, {file.path()}); }), HasSubstr("seed"));
}

TEST(ApplyConfig, ReadsEveryTypeFromToml) {
  TomlFile file(
      "exact = true\ncolor = 'blue'\n\"run.root\" = \"a\\tb\"\n"
      "[stop]\nafter = 90\nevery = \"1h\"\n[data]\npath = [\"x,y\", \"z\"]\nmode = \"safe\"\n"
      "[optimizer]\nlr = 1\n[batch]\nglobal = 1_024\n");
  Both both;
  both.apply({}, {file.path()});
  EXPECT_TRUE(both.engine.exact);
  EXPECT_EQ(both.engine.color, Color::blue);
  EXPECT_EQ(both.engine.after.seconds, 90);
  EXPECT_EQ(both.engine.every.seconds, 3600);
  EXPECT_EQ(both.engine.root, "a\tb");
  EXPECT_THAT(both.toy.paths, ElementsAre("x,y", "z"));
  EXPECT_EQ(both.engine.lr, 1);
  EXPECT_EQ(both.engine.global, 1024);
}

TEST(ApplyConfig, ReadsAListFromOneText) {
  TomlFile file("data.path = \"a, b\"\r\n");
  Both both;
  both.apply({}, {file.path()});
  EXPECT_THAT(both.toy.paths, ElementsAre("a", "b"));
}

TEST(ApplyConfig, TakesAnEmptyGroupAndNoEmptyFile) {
  TomlFile empty(""), comment("# nothing yet\n"), group("[batch]\n# nothing yet\n");
  Both both;
  both.apply({}, {comment.path(), group.path()});
  EXPECT_EQ(both.engine.global, 8);
  EXPECT_THAT(error_of([&] { both.apply({}, {empty.path()}); }), HasSubstr("is empty"));
}

TEST(ApplyConfig, FindsTheNearestKeyOverAllTables) {
  Both both;
  EXPECT_THAT(error_of([&] { both.apply({"model.wdith=3"}); }),
              AllOf(HasSubstr("model.wdith is not an option (argument model.wdith=3)"),
                    HasSubstr("did you mean model.width?")));
  EXPECT_THAT(error_of([&] { both.apply({"lr=3"}); }), HasSubstr("did you mean optimizer.lr?"));
  EXPECT_THAT(error_of([&] { both.apply({"zzzzzzzz=3"}); }), HasSubstr("lockstep config"));
}

TEST(ApplyConfig, SaysWhatTheCallerKnowsOfAnUnknownKey) {
  const ExplainKey explain = [](std::string_view key,
                                const std::string& value) -> std::optional<Error> {
    if (key != "model.depth") return std::nullopt;
    return Error("model.depth is elsewhere", "look there for " + value);
  };
  const TomlFile file("[model]\ndepth = 3\n");
  const auto apply = [&](std::vector<std::string> arguments,
                         std::vector<std::filesystem::path> files) {
    Both both;
    return error_of([&] { apply_config(both.tables, files, arguments, explain); });
  };
  EXPECT_EQ(apply({"model.depth=3"}, {}),
            "model.depth is elsewhere (argument model.depth=3) | look there for 3");
  EXPECT_THAT(apply({}, {file.path()}), HasSubstr("my.toml, line 2) | look there for 3"));
  EXPECT_THAT(apply({"model.wdith=3"}, {}), HasSubstr("did you mean model.width?"));
}

TEST(ApplyConfig, NamesTheOptionsOfAGroup) {
  Both both;
  EXPECT_THAT(error_of([&] { both.apply({"optimizer=adam"}); }),
              HasSubstr("its options are optimizer.lr, optimizer.beta"));
}

TEST(ApplyConfig, RefusesAnArgumentWithoutEquals) {
  Both both;
  EXPECT_THAT(error_of([&] { both.apply({"--batch.global"}); }),
              AllOf(HasSubstr("not of the form key=value"), HasSubstr("write batch.global=VALUE")));
  EXPECT_THAT(error_of([&] { both.apply({"=3"}); }), HasSubstr("not of the form key=value"));
}

TEST(ApplyConfig, KeepsEqualsSignsOfTheValue) {
  Both both;
  both.apply({"run.root=a=b"});
  EXPECT_EQ(both.engine.root, "a=b");
}

TEST(ApplyConfig, NamesFileAndLineOfAFault) {
  EXPECT_THAT(error_of_file("seed = 1\n\n[batch]\nglobal = 0\n"),
              AllOf(HasSubstr("batch.global must be"), HasSubstr("my.toml, line 4)")));
  EXPECT_THAT(error_of_file("[batch]\nglobal = \"8\"\n"),
              AllOf(HasSubstr("but is the text \"8\""), HasSubstr("my.toml, line 2)")));
  EXPECT_THAT(error_of_file("[batch]\nsize = 8\n"), HasSubstr("batch.size is not an option"));
  EXPECT_THAT(error_of_file("\nbatch = 8\n"), HasSubstr("my.toml, line 2)"));
  EXPECT_THAT(error_of_file("[seed]\nx = 1\n"), HasSubstr("did you mean seed?"));
  EXPECT_THAT(error_of_file("[seed]\n"), HasSubstr("but is a table"));
  EXPECT_THAT(error_of_file("run.root = 2024-01-01\n"), HasSubstr("my.toml, line 1)"));
  EXPECT_THAT(error_of_file("preset = 3\n"), HasSubstr("preset must be a text, but is 3"));
  EXPECT_THAT(error_of_file("[[batch]]\nglobal = 1\n"), HasSubstr("batch is a group"));
  EXPECT_THAT(error_of_file("[data]\npath = [[\"a\"]]\n"), HasSubstr("data.path must be a list"));
}

TEST(ApplyConfig, NamesFileAndLineOfASyntaxError) {
  const std::vector<std::pair<const char*, const char*>> faults{
      {"seed = 1\n[batch\nglobal = 8\n", "line 2"},
      {"\n\nseed =\n", "line 3"},
      {"seed = 1\nseed = 2\n", "line 2"},
      {"run.root = \"abc\n", "line 1"},
      {"a b c\n", "line 1"}};
  for (const auto& [text, line] : faults)
    EXPECT_THAT(error_of_file(text), AllOf(HasSubstr("my.toml as TOML"), HasSubstr(line))) << text;
}

TEST(ApplyConfig, ShowsALineOfAnotherFormAsTomlWritesIt) {
  const std::vector<std::pair<const char*, const char*>> lines{
      {"num_leaves: 255\n", "TOML writes: num_leaves = 255"},
      {"seed = 1\nteacher_gpu_use_dp: True   # enabled\n",
       "TOML writes: teacher_gpu_use_dp = true"},
      {"rate: 5e-4\n", "TOML writes: rate = 5e-4"},
      {"name: fast run\n", "TOML writes: name = \"fast run\""},
      {"export NAME='fast'\n", "TOML writes: NAME = \"fast\""},
      {"NAME=fast\n", "TOML writes: NAME = \"fast\""},
      {"CONFIG = {'batch_size': 16, 'epochs': 3}\n",
       "TOML writes: each entry of the dictionary as a line NAME = VALUE of its own"},
      {"CONFIG = {\n  'batch_size': 16,\n}\n", "TOML writes: each entry of the dictionary"},
      {"args = dict(batch_size=16)\n", "TOML writes: each entry of the dictionary"},
      {"training:\n  batch_size: 4\n", "TOML writes: [training]"}};
  for (const auto& [text, hint] : lines) EXPECT_THAT(error_of_file(text), HasSubstr(hint)) << text;
  EXPECT_THAT(error_of_file("a b c\n"), Not(HasSubstr("TOML writes")));
  EXPECT_THAT(error_of_file("seed =\n"), Not(HasSubstr("TOML writes")));
}

// What is read from a file of that name.
std::string answer_of(const std::string& name, const std::string& text, Both& both) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / name, text);
  return error_if_any([&] { both.apply({}, {folder.path() / name}); });
}

TEST(ApplyConfig, ReadsJson) {
  Both both;
  EXPECT_EQ(answer_of("a.json",
                      R"({"seed": 7, "batch": {"global": 16}, "optimizer.lr": 5e-4,
                          "data.path": ["x", "y"], "exact": true, "stop.after": "2h"})",
                      both),
            "");
  EXPECT_EQ(both.engine.seed, 7);
  EXPECT_EQ(both.engine.global, 16);
  EXPECT_EQ(both.engine.lr, 5e-4);
  EXPECT_EQ(both.engine.after.seconds, 7200);
  EXPECT_THAT(both.toy.paths, ElementsAre("x", "y"));
  EXPECT_TRUE(both.engine.exact);
  EXPECT_THAT(answer_of("a.json", R"({"sed": 7})", both), HasSubstr("a.json)"));
  EXPECT_THAT(answer_of("a.json", R"({"seed": null})", both),
              HasSubstr("but is the text \"none\""));
  EXPECT_THAT(answer_of("a.json", "{\n\"seed\": 7,,\n}", both),
              AllOf(HasSubstr("a.json as JSON: "), HasSubstr(" in line 2")));
  for (const char* text : {"[1]", "3"})
    EXPECT_THAT(answer_of("a.json", text, both), HasSubstr("it is no JSON object"));
}

TEST(ApplyConfig, SaysOfAFileOfAnotherFormHowToWriteIt) {
  Both both;
  const std::string python = "CONFIG = {\n    'batch_size': 16,\n}\n";
  EXPECT_THAT(answer_of("config.py", python, both),
              AllOf(HasSubstr("config.py as TOML"), HasSubstr("| write it as TOML, a line NAME = "),
                    HasSubstr("or type NAME=VALUE on the command line")));
  EXPECT_EQ(answer_of("config.py", "seed = 9\n", both), "");
  EXPECT_EQ(both.engine.seed, 9);
  EXPECT_THAT(error_of_file("seed =\n"), Not(HasSubstr("write it as TOML")));
}

TEST(ApplyConfig, RefusesAFileThatIsNotText) {
  EXPECT_THAT(error_of_file(std::string("\xff\xfe\0bin", 6)), HasSubstr("my.toml as TOML"));
  EXPECT_THAT(error_of_file("run.root = \"\xff\xff\"\n"), HasSubstr("my.toml as TOML"));
  // Of such texts the parser would read beyond the end.
  for (const char* text : {"'\xff'", "'''\n\xd5'''", "'\xc3", "# \xed\xa0\x80"})
    EXPECT_THAT(error_of_file(cat("\nrun.root = ", text)), HasSubstr("is not UTF-8")) << text;
}

// The parser calls itself for each level: without a limit this ends the program.
TEST(ApplyConfig, RefusesAFileThatNestsTooDeep) {
  std::string dots = "a", tables;
  for (int i = 0; i < 100'000; ++i) dots += ".a";
  for (int i = 0; i < 100'000; ++i) tables += "{a=";
  for (const std::string& text : {"seed = " + std::string(100'000, '['), "seed = " + tables,
                                  dots + " = 1", "[" + dots + "]"}) {
    const TomlFile file("\n" + text);
    EXPECT_THAT(error_of([&] { Both().apply({}, {file.path()}); }),
                HasSubstr("line 2 nests more than 100 levels"));
  }
}

TEST(ApplyConfig, RefusesBinaryNumbersThatTheParserWouldOverflow) {
  const TomlFile file("[batch]\nglobal = 0b10_00\n");
  Both both;
  both.apply({}, {file.path()});
  EXPECT_EQ(both.engine.global, 8);
  EXPECT_THAT(error_of_file("\nseed = 0b" + std::string(63, '1') + "\n"),
              HasSubstr("line 2 has a binary number of more than 62 digits"));
}

TEST(ApplyConfig, TakesBracketsAndDotsInTextsCommentsAndLists) {
  const std::string many(200, '['), dots(200, '.'), single(3, '\''), three(3, '"');
  std::string numbers;
  for (int i = 0; i < 200; ++i) numbers += "'1.5', ";
  const TomlFile file(cat("# it's ", many, "\n[run]\nroot = \"", many, "\\\"", dots, "\" # '", many,
                          "\n[data]\npath = [", numbers, "'", many, "', ", single, "\n", many,
                          single, ", ", three, "\n\"", many, three, "]\n"));
  Both both;
  both.apply({}, {file.path()});
  EXPECT_EQ(both.engine.root, many + "\"" + dots);
  EXPECT_EQ(both.toy.paths.size(), 203u);
}

TEST(ApplyConfig, NamesAFileThatCannotBeRead) {
  Both both;
  EXPECT_THAT(error_of([&] { both.apply({}, {"/nowhere/my.toml"}); }),
              HasSubstr("cannot read /nowhere/my.toml: No such file"));
}

TEST(ApplyConfig, ChangesNothingAfterTheFault) {
  TomlFile file("seed = 1\nexact = 3\n[batch]\nglobal = 16\n");
  Both both;
  EXPECT_THROW(both.apply({"model.width=5"}, {file.path()}), Error);
  EXPECT_EQ(both.engine.seed, 1);
  EXPECT_EQ(both.engine.global, 8);
  EXPECT_EQ(both.toy.width, 128);
}

TEST(ApplyConfig, ChangesNothingForASyntaxErrorInAnyFile) {
  TomlFile good("seed = 1\n"), bad("seed =\n");
  Both both;
  EXPECT_THROW(both.apply({}, {good.path(), bad.path()}), Error);
  EXPECT_EQ(both.engine.seed, 42);
}

TEST(ApplyConfig, RefusesTablesThatContradictEachOther) {
  EngineOptions engine, again;
  const std::vector<OptionTable*> twice{&engine.table, &again.table};
  EXPECT_THAT(error_of([&] { apply_config(twice, {}, {}); }), HasSubstr("in two tables"));
  OptionTable other;
  std::string text;
  other.add("batch", text, {});
  const std::vector<OptionTable*> nested{&engine.table, &other};
  EXPECT_THAT(error_of([&] { apply_config(nested, {}, {}); }),
              HasSubstr("batch is both an option and a group"));
}

}  // namespace
}  // namespace lockstep
