// One table: what may be set, what is refused and how, and what is given back.
#include "core/config/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/text/text.h"
#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(OptionTable, SetsEveryType) {
  Both both;
  both.engine.table.set("seed", "-7");
  both.engine.table.set("batch.global", "10_000");
  both.engine.table.set("optimizer.lr", "5e-4");
  both.engine.table.set("exact", "on");
  both.engine.table.set("stop.after", "8h30m");
  both.engine.table.set("color", "blue");
  both.engine.table.set("run.root", "my runs");
  both.toy.table.set("data.path", "b.txt, c d.txt");
  EXPECT_EQ(both.engine.seed, -7);
  EXPECT_EQ(both.engine.global, 10000);
  EXPECT_EQ(both.engine.lr, 5e-4);
  EXPECT_TRUE(both.engine.exact);
  EXPECT_EQ(both.engine.after.seconds, 30600);
  EXPECT_EQ(both.engine.color, Color::blue);
  EXPECT_EQ(both.engine.root, "my runs");
  EXPECT_THAT(both.toy.paths, ElementsAre("b.txt", "c d.txt"));
}

TEST(OptionTable, TakesAllWordsForTrueAndFalse) {
  EngineOptions engine;
  for (const char* word : {"true", "yes", "on", "1"}) {
    engine.exact = false;
    engine.table.set("exact", word);
    EXPECT_TRUE(engine.exact) << word;
  }
  for (const char* word : {"false", "no", "off", "0"}) {
    engine.exact = true;
    engine.table.set("exact", word);
    EXPECT_FALSE(engine.exact) << word;
  }
}

TEST(OptionTable, RefusesTextThatIsNoWholeNumber) {
  EngineOptions engine;
  for (const char* text : {"", "1e6", "1.0", "ten", "1_", "_1", "1__0", "0x10", "--1", "+-1", "1 2",
                           "9223372036854775808"}) {
    EXPECT_THAT(error_of([&] { engine.table.set("seed", text); }),
                HasSubstr("seed must be a whole number, but is \"" + std::string(text) + "\""));
  }
  EXPECT_EQ(engine.seed, 42);
}

TEST(OptionTable, HintsHowToWriteAnExponentOut) {
  EngineOptions engine;
  EXPECT_THAT(error_of([&] { engine.table.set("seed", "1e6"); }), HasSubstr("seed=1000000"));
}

TEST(OptionTable, TakesTheUsualFormsOfNumbers) {
  EngineOptions engine;
  const std::vector<std::pair<const char*, double>> forms{
      {"1", 1},       {"+1.5", 1.5},    {".5", 0.5},           {"5.", 5},
      {"1e-4", 1e-4}, {"2.5E+3", 2500}, {"1_000.25", 1000.25}, {" 3 ", 3}};
  for (const auto& [text, value] : forms) {
    engine.table.set("optimizer.lr", text);
    EXPECT_EQ(engine.lr, value) << text;
  }
}

TEST(OptionTable, RefusesTextThatIsNoNumber) {
  EngineOptions engine;
  for (const char* text : {"", "fast", "inf", "nan", "1e999", "1,5", "0x1p3", "1e"})
    EXPECT_THAT(error_of([&] { engine.table.set("optimizer.lr", text); }),
                HasSubstr("optimizer.lr must be a number of at least 0, but is"))
        << text;
  EXPECT_EQ(engine.lr, 1e-3);
}

TEST(OptionTable, NamesKeyValueRangeAndUnitOfAValueOutOfRange) {
  EngineOptions engine;
  EXPECT_THAT(error_of([&] { engine.table.set("batch.global", "0"); }),
              HasSubstr("batch.global must be a whole number from 1 to 1000000 samples, but is 0"));
  EXPECT_THAT(error_of([&] { engine.table.set("optimizer.beta", "1"); }),
              HasSubstr("optimizer.beta must be a number from 0 to 0.999, but is 1"));
  EXPECT_THAT(
      error_of([&] { engine.table.set("stop.every", "5s"); }),
      HasSubstr("stop.every must be a time such as 90s or 8h30m of at least 10s, but is 5s"));
}

TEST(OptionTable, TakesTheEndsOfARange) {
  EngineOptions engine;
  engine.table.set("batch.global", "1");
  engine.table.set("batch.global", "1000000");
  engine.table.set("optimizer.beta", "0.999");
  engine.table.set("stop.every", "10s");
  EXPECT_EQ(engine.global, 1000000);
  EXPECT_THROW(engine.table.set("batch.global", "1000001"), Error);
}

TEST(OptionTable, NamesTheWordsOfAChoiceAndTheNearest) {
  Both both;
  EXPECT_THAT(error_of([&] { both.engine.table.set("color", "grene"); }),
              AllOf(HasSubstr("color must be one of red, green, blue, but is \"grene\""),
                    HasSubstr("did you mean green?")));
  EXPECT_THAT(error_of([&] { both.toy.table.set("data.mode", "slow"); }),
              HasSubstr("one of fast, safe"));
}

TEST(OptionTable, NamesTheNearestKey) {
  EngineOptions engine;
  EXPECT_THAT(error_of([&] { engine.table.set("batch.globl", "8"); }),
              AllOf(HasSubstr("batch.globl is not an option"), HasSubstr("batch.global?")));
  EXPECT_THROW(engine.table.get("nothing"), Error);
  EXPECT_FALSE(engine.table.has("batch"));
}

TEST(OptionTable, RefusesJsonOfAnotherType) {
  Both both;
  const auto error = [&](OptionTable& table, const char* key, const Json& value) {
    return error_of([&] { table.set_json(key, value); });
  };
  OptionTable& engine = both.engine.table;
  EXPECT_THAT(error(engine, "seed", "8"), HasSubstr("but is the text \"8\""));
  EXPECT_THAT(error(engine, "seed", 8.5), HasSubstr("but is 8.5"));
  EXPECT_THAT(error(engine, "seed", 9223372036854775808u), HasSubstr("but is 9223372036854775808"));
  EXPECT_THAT(error(engine, "optimizer.lr", Json::object()), HasSubstr("but is a table"));
  EXPECT_THAT(error(engine, "optimizer.lr", INFINITY), HasSubstr("but is inf"));
  EXPECT_THAT(error(engine, "exact", 1), HasSubstr("true or false, but is 1"));
  EXPECT_THAT(error(engine, "run.root", 3), HasSubstr("a text, but is 3"));
  EXPECT_THAT(error(engine, "color", true), HasSubstr("but is true"));
  EXPECT_THAT(error(engine, "stop.after", -1), HasSubstr("but is -1"));
  EXPECT_THAT(error(both.toy.table, "data.path", Json::array({1})), HasSubstr("but is [1]"));
  EXPECT_THAT(error(both.toy.table, "data.path", Json::array({""})), HasSubstr("list of texts"));
}

TEST(OptionTable, KeepsItsDefaultTextWhenSet) {
  EngineOptions engine;
  engine.table.set("seed", "7");
  EXPECT_TRUE(engine.table.is_set("seed"));
  EXPECT_FALSE(engine.table.is_set("exact"));
  EXPECT_EQ(engine.table.get("seed"), "7");
  EXPECT_EQ(engine.table.options().front().default_text, "42");
}

TEST(OptionTable, TellsWhatIsGivenFromWhatAPresetSet) {
  EngineOptions engine;
  EXPECT_FALSE(engine.table.is_given("seed"));
  engine.table.set("seed", "7", {.kind = ValueSource::Kind::preset, .where = "small"});
  EXPECT_TRUE(engine.table.is_set("seed"));
  EXPECT_FALSE(engine.table.is_given("seed"));
  EXPECT_EQ(engine.seed, 7);
  engine.table.set_json("seed", 8);
  EXPECT_TRUE(engine.table.is_given("seed"));
}

TEST(OptionTable, MakesRelativePathsAbsoluteButNoOtherText) {
  std::vector<std::string> data{"a.txt", "../b/*.txt", "/c", "synthetic"};
  std::string folder, name = "plain";
  OptionTable table;
  table.add("data.path", data, {.meaning = "m", .is_path = true, .no_paths = {"synthetic"}});
  table.add("folder", folder, {.meaning = "m", .is_path = true});
  table.add("name", name, {.meaning = "m"});
  table.make_paths_absolute("/home/me");
  EXPECT_EQ(data, (std::vector<std::string>{"/home/me/a.txt", "/home/b/*.txt", "/c", "synthetic"}));
  EXPECT_EQ(folder, "");
  EXPECT_EQ(name, "plain");
  EXPECT_FALSE(table.is_set("data.path"));
}

TEST(OptionTable, AnAddressOfTheWebIsNoPath) {
  std::vector<std::string> data;
  std::string other = "https://there";
  OptionTable table;
  table.add("data.path", data, {.meaning = "m", .is_path = true});
  table.add("other", other, {.meaning = "m"});
  const std::string fetch = "fetch the file first, for example by curl -L -O ",
                    unpack = ", unpack an archive, and write data.path=",
                    local = "name a file or folder of this machine: data.path=PATH";
  const std::vector<std::pair<std::string, std::string>> hints{
      {"https://host/sets/z.txt", cat(fetch, "https://host/sets/z.txt", unpack, "z.txt")},
      {"http://host/z.zip?dl=1", cat(fetch, "'http://host/z.zip?dl=1'", unpack, "z.zip")},
      {"https://host", cat(fetch, "https://host", unpack, "FILE")},
      {"https://host/sets/", cat(fetch, "https://host/sets/", unpack, "FILE")},
      {"file:///home/my z.txt", "write the path alone: data.path='/home/my z.txt'"},
      {"s3://bucket/z.txt", local},
      {"hf://datasets/z", local}};
  for (const auto& [address, hint] : hints) {
    data = {"a.txt", address};
    EXPECT_EQ(error_of([&] { table.make_paths_absolute("/home/me"); }),
              cat("data.path is an address, ", address, ", and nothing is downloaded | ", hint));
  }
  data = {"://a", "a b://c", "http:/a"};
  table.make_paths_absolute("/");
  EXPECT_EQ(data, (std::vector<std::string>{"/:/a", "/a b:/c", "/http:/a"}));
}

TEST(OptionTable, FollowsAFieldThatIsChangedBeforeItIsSet) {
  EngineOptions engine;
  engine.lr = 0.5;
  engine.table.set("optimizer.lr", "0.25");
  EXPECT_EQ(engine.table.options()[3].default_text, "0.5");
}

TEST(OptionTable, RefusesKeysAndDefaultsThatCannotBe) {
  OptionTable table;
  std::int64_t number = 5;
  table.add("number", number, {.meaning = "x"});
  EXPECT_THAT(error_of([&] { table.add("number", number, {}); }), HasSubstr("added twice"));
  for (const char* key : {"", ".a", "a.", "a..b", "A", "a b", "a=b", "a-b"})
    EXPECT_THAT(error_of([&] { table.add(key, number, {}); }), HasSubstr("cannot be")) << key;
  EXPECT_THAT(error_of([&] { table.add("small", number, {.meaning = "x", .max = 4}); }),
              HasSubstr("small must be a whole number of at most 4, but is 5"));
}

TEST(OptionTable, GivesBackTextsExactlyForManyNumbers) {
  EngineOptions first, second;
  first.table.set("optimizer.lr", "0");
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::uint64_t bits = random() >> 1;
    std::memcpy(&first.lr, &bits, sizeof bits);
    if (!std::isfinite(first.lr)) continue;
    first.seed = static_cast<std::int64_t>(random());
    second.table.set("optimizer.lr", first.table.get("optimizer.lr"));
    second.table.set("seed", first.table.get("seed"));
    ASSERT_EQ(first.lr, second.lr) << first.table.get("optimizer.lr");
    ASSERT_EQ(first.seed, second.seed);
  }
}

TEST(OptionTable, WritesNumbersAsPeopleDo) {
  EngineOptions engine;
  for (const char* text : {"0", "1", "100000", "0.001", "0.0005", "0.0001", "1e-5", "1e-8",
                           "2.5e-6", "123456.789", "1e+300"}) {
    engine.table.set("optimizer.lr", text);
    EXPECT_EQ(engine.table.get("optimizer.lr"), text == std::string("1e+300") ? "1e300" : text);
  }
}

TEST(OptionTable, GivesBackListsWithAnyCharacters) {
  ToyOptions first, second;
  for (const std::vector<std::string>& items : {std::vector<std::string>{},
                                                {"a"},
                                                {"a,b", "c"},
                                                {" lead", "trail "},
                                                {"back\\slash", "\\"},
                                                {"a\\,b", ",", " ", "  "},
                                                {"\t"},
                                                {"\n \n"},
                                                {"x y"}}) {
    first.paths = items;
    second.table.set("data.path", first.table.get("data.path"));
    EXPECT_EQ(second.paths, items) << first.table.get("data.path");
  }
}

TEST(OptionTable, RefusesListsWithEmptyItems) {
  ToyOptions toy;
  for (const char* text : {"a,,b", "a,", ",a", ","})
    EXPECT_THROW(toy.table.set("data.path", text), Error) << text;
  toy.table.set("data.path", "");
  EXPECT_TRUE(toy.paths.empty());
}

}  // namespace
}  // namespace lockstep
