// Records and TOML files give the same options back, exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json record_of(const Both& both) {
  Json record = both.engine.table.to_json();
  record.update(both.toy.table.to_json());
  return record;
}

// Sets every option to a value drawn at random.
void draw(Both& both, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const auto set = [&](OptionTable& table, const char* key, const Json& value) {
    table.set_json(key, value);
  };
  set(both.engine.table, "seed", static_cast<std::int64_t>(random()));
  set(both.engine.table, "batch.global", 1 + random() % 1000000);
  set(both.engine.table, "optimizer.lr", unit(random) * 1e-3);
  set(both.engine.table, "optimizer.beta", unit(random) * 0.999);
  set(both.engine.table, "exact", random() % 2 == 0);
  set(both.engine.table, "stop.after", unit(random) * 1e5);
  set(both.engine.table, "stop.every", 10 + random() % 100000);
  set(both.engine.table, "color", random() % 2 ? "green" : "blue");
  std::string text;
  for (std::size_t i = random() % 20; i > 0; --i) text += static_cast<char>(1 + random() % 127);
  set(both.engine.table, "run.root", text + "\xC3\xA9 \"'\\");
  set(both.toy.table, "data.path", Json::array({text + ",", "\\", " x "}));
}

TEST(Record, HasJsonTypes) {
  Both both;
  const Json record = record_of(both);
  EXPECT_TRUE(record.at("seed").is_number_integer());
  EXPECT_TRUE(record.at("optimizer.lr").is_number_float());
  EXPECT_TRUE(record.at("exact").is_boolean());
  EXPECT_EQ(record.at("stop.every"), 1800);
  EXPECT_EQ(record.at("color"), "red");
  EXPECT_EQ(record.at("data.path"), Json::array({"a.txt"}));
}

TEST(Record, GivesEverythingBackExactly) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    Both first, second;
    draw(first, random);
    apply_json(second.tables, Json::parse(record_of(first).dump()));
    ASSERT_EQ(record_of(second), record_of(first));
    ASSERT_EQ(second.engine.lr, first.engine.lr);
    ASSERT_EQ(second.engine.after, first.engine.after);
  }
}

TEST(Record, GivesPresetsBackExactly) {
  Both first, second;
  first.apply({"preset=large", "optimizer.lr=0.1", "batch.global=3"});
  apply_json(second.tables, record_of(first));
  EXPECT_EQ(record_of(second), record_of(first));
  EXPECT_EQ(second.engine.global, 3);
}

TEST(Record, RefusesUnknownKeysAndOtherShapes) {
  Both both;
  EXPECT_THAT(error_of([&] {
                apply_json(both.tables, {{"sed", 1}});
              }),
              HasSubstr("did you mean seed?"));
  EXPECT_THAT(error_of([&] {
                apply_json(both.tables, {{"seed", nullptr}});
              }),
              HasSubstr("seed must be a whole number, but is null"));
  EXPECT_THAT(error_of([&] { apply_json(both.tables, Json::array()); }), HasSubstr("JSON object"));
}

TEST(ToToml, GivesEverythingBackExactly) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    Both first, second;
    draw(first, random);
    TomlFile file(to_toml(first.tables));
    second.apply({}, {file.path()});
    ASSERT_EQ(record_of(second), record_of(first)) << to_toml(first.tables);
  }
}

TEST(ToToml, KeepsAValueThatWasSetBackToItsDefaultOverThePreset) {
  Both first, second;
  first.apply({"preset=small", "optimizer.lr=0.001"});
  TomlFile file(to_toml(first.tables));
  second.apply({}, {file.path()});
  EXPECT_EQ(second.engine.lr, 0.001);
  EXPECT_EQ(record_of(second), record_of(first));
}

TEST(ToToml, LeavesDefaultsToThePresetThatIsChosenInTheFile) {
  Both first, second;
  TomlFile file("preset = \"large\"\n" + to_toml(first.tables));
  second.apply({}, {file.path()});
  EXPECT_EQ(second.toy.width, 4096);
  EXPECT_EQ(second.engine.global, 512);
}

TEST(ToToml, ExplainsEveryOption) {
  Both both;
  both.apply({"batch.global=16"});
  const std::string text = to_toml(both.tables);
  EXPECT_THAT(text, HasSubstr("[batch]\n# in one step [1 to 1000000 samples]\n# from the command "
                              "line; the default is 8\nglobal = 16\n"));
  EXPECT_THAT(text, HasSubstr("# of the bar [one of red, green, blue]\n# color = \"red\"\n"));
  EXPECT_THAT(text, HasSubstr("# preset small: for a laptop\n"));
}

}  // namespace
}  // namespace lockstep
