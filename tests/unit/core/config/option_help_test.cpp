// Option tables for people and programs.
#include "core/config/option_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(OptionsText, AlignsAndGroups) {
  Both both;
  const std::string text = options_text(both.tables, 100);
  EXPECT_THAT(text, HasSubstr("options\n  seed=42             fixes all randomness\n"));
  EXPECT_THAT(text,
              HasSubstr("\n\nbatch\n  batch.global=8      in one step [1 to 1000000 samples]\n"));
  EXPECT_THAT(text, HasSubstr("  stop.every=30m      between saves [at least 10s]\n"));
  EXPECT_THAT(text, HasSubstr("presets (preset=NAME)\n  small               for a laptop\n"));
}

TEST(OptionsText, StaysWithinTheWidth) {
  Both both;
  OptionTable table;
  std::int64_t number = 0;
  std::string meaning = "m\xC3\xBCnchen";
  for (int i = 0; i < 40; ++i) meaning += i % 2 ? " w\xC3\xB6rd" : " 訓練";
  table.add("long.key", number, {.meaning = meaning});
  both.tables.push_back(&table);
  for (const int width : {60, 72, 80, 100, 140}) {
    for (const std::string& line : split(options_text(both.tables, width), '\n')) {
      EXPECT_LE(cells_of(line), width) << line;
    }
  }
}

TEST(OptionsText, PutsALongNameOnALineOfItsOwn) {
  OptionTable table;
  std::string text(60, 'x');
  table.add("name", text, {.meaning = "meaning"});
  const std::vector<OptionTable*> tables{&table};
  EXPECT_THAT(options_text(tables, 80), HasSubstr("  name=" + text + "\n    meaning\n"));
}

TEST(OptionsText, ShowsWhatHoldsAndWhereItComesFrom) {
  Both both;
  const TomlFile file("color = \"green\"\n");
  both.apply({"preset=small", "seed=7"}, {file.path()});
  const std::string text = options_text(both.tables, 200);
  EXPECT_THAT(text, HasSubstr("seed=7 "));
  EXPECT_THAT(text, HasSubstr("from the command line; the default is 42\n"));
  EXPECT_THAT(text, HasSubstr("optimizer.lr=0.01 "));
  EXPECT_THAT(text, HasSubstr("from preset small; the default is 0.001\n"));
  EXPECT_THAT(text, HasSubstr("color=green "));
  EXPECT_THAT(text,
              HasSubstr(cat("from ", file.path().string(), ", line 1; the default is red\n")));
  EXPECT_THAT(text, HasSubstr("batch.global=8 "));
  EXPECT_THAT(text, HasSubstr("in one step [1 to 1000000 samples]\n\n"));  // and no source
}

TEST(OptionsText, TheSourceStandsBelowTheMeaning) {
  Both both;
  both.apply({"seed=7"});
  EXPECT_THAT(options_text(both.tables, 100),
              HasSubstr("  seed=7              fixes all randomness\n"
                        "                      from the command line; the default is 42\n"));
}

TEST(OptionsText, TheLastSourceCounts) {
  Both both;
  both.apply({"optimizer.lr=0.5", "preset=small"});
  EXPECT_THAT(options_text(both.tables, 200), HasSubstr("optimizer.lr=0.5 "));
  EXPECT_THAT(options_text(both.tables, 200),
              HasSubstr("from the command line; the default is 0.001\n"));
}

TEST(OptionsText, AValueThatIsSetToTheDefaultHasItsSourceToo) {
  Both both;
  both.apply({"seed=42"});
  EXPECT_THAT(options_text(both.tables, 80), HasSubstr("from the command line\n"));
}

TEST(OptionsToml, HoldsTheSourcesAsCommentsAndIsReadBack) {
  Both both;
  both.apply({"preset=small", "seed=7"});
  const std::string text = to_toml(both.tables);
  EXPECT_THAT(text, HasSubstr("# from preset small; the default is 0.001\nlr = 0.01\n"));
  EXPECT_THAT(text, HasSubstr("# from the command line; the default is 42\nseed = 7\n"));
  Both again;
  again.apply({}, {TomlFile(text).path()});
  EXPECT_EQ(again.engine.lr, 0.01);
  EXPECT_EQ(again.engine.seed, 7);
}

TEST(OptionsMarkdown, HasATableForEachGroupAndThePresets) {
  Both both;
  const std::string text = options_markdown(both.tables);
  EXPECT_THAT(text,
              HasSubstr("## batch\n\n| option | type | default | unit | range | meaning |\n"));
  EXPECT_THAT(text, HasSubstr("| `batch.global` | integer | `8` | samples | 1 to 1000000 | in one "
                              "step |\n"));
  EXPECT_THAT(text, HasSubstr("| `color` | choice | `red` |  | `red`, `green`, `blue` |"));
  EXPECT_THAT(text, HasSubstr("| `small` | for a laptop | `model.width=64` `optimizer.lr=0.01` |"));
}

TEST(OptionsMarkdown, EscapesBars) {
  OptionTable table;
  std::string text = "a|b";
  table.add("name", text, {.meaning = "x|y"});
  const std::vector<OptionTable*> tables{&table};
  EXPECT_THAT(options_markdown(tables), HasSubstr("| `name` | text | `a\\|b` |  |  | x\\|y |"));
}

TEST(OptionsJson, HasTypedDefaultsValuesAndBounds) {
  Both both;
  both.apply({"batch.global=16", "stop.every=1h"});
  const Json help = options_json(both.tables);
  EXPECT_EQ(help.at("options").size(), 13u);
  EXPECT_EQ(help.at("options").at(2), Json({{"key", "batch.global"},
                                            {"type", "integer"},
                                            {"default", 8},
                                            {"value", 16},
                                            {"source", "argument"},
                                            {"where", ""},
                                            {"meaning", "in one step"},
                                            {"unit", "samples"},
                                            {"min", 1},
                                            {"max", 1000000},
                                            {"choices", Json::array()}}));
  const Json& every = help.at("options").at(7);
  EXPECT_EQ(every.at("default"), 1800);
  EXPECT_EQ(every.at("value"), 3600);
  EXPECT_TRUE(every.at("max").is_null());
  EXPECT_EQ(help.at("options").at(0).at("source"), "default");
  EXPECT_EQ(help.at("presets").at(1).at("values").at("batch.global"), "512");
}

}  // namespace
}  // namespace lockstep
