#include "core/base/json/json.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(ParseJson, GivesTheValueOrADiscardedOne) {
  EXPECT_EQ(parse_json(R"({"a": [1, "]]"]})"), (nlohmann::json{{"a", {1, "]]"}}}));
  for (const char* bad : {"", "{", "[1,]", "\"\xff\"", "1e400"})
    EXPECT_TRUE(parse_json(bad).is_discarded()) << bad;
}

TEST(ParsePythonJson, TakesNumbersThatAreNotFiniteAsTexts) {
  EXPECT_EQ(
      parse_python_json(R"({"NaN": NaN, "a": [-Infinity, Infinity, -1], "b": "\"NaN \\"})"),
      (nlohmann::json{{"NaN", "NaN"}, {"a", {"-Infinity", "Infinity", -1}}, {"b", "\"NaN \\"}}));
  EXPECT_EQ(parse_python_json("[1]"), nlohmann::json::array({1}));
  for (const char* bad : {"", "{", "[nan]", "[NaN", "[+NaN]", "\"NaN", "\"a\\", "[1e400, NaN]"})
    EXPECT_TRUE(parse_python_json(bad).is_discarded()) << bad;
}

TEST(ParsePythonJson, OrAsNull) {
  EXPECT_EQ(parse_python_json(R"({"a": [NaN, -Infinity], "b": "NaN"})", PythonNumber::null),
            (nlohmann::json{{"a", {nullptr, nullptr}}, {"b", "NaN"}}));
  EXPECT_TRUE(parse_python_json("[-NaN]", PythonNumber::null).is_discarded());
}

TEST(JsonFault, SaysWhereReadingStoppedAndWhy) {
  const auto fault = [](const std::string& text) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    const JsonFault found = json_fault(text);
    return cat(found.offset, ": ", found.reason);
  };
  EXPECT_EQ(fault(R"({"text":"a","score":NaN})"), "20: invalid literal");
  EXPECT_EQ(fault(R"({"text": "x \ud83d"})"),
            "18: half of a surrogate pair, which is no character");
  EXPECT_EQ(fault("[\"\xFF\"]"), "2: invalid string: ill-formed UTF-8 byte");
  EXPECT_EQ(fault(R"({"a": 1e999})"), "6: a number that is too large");
  EXPECT_EQ(fault(R"({"a": 1 "b": 2})"), "10: unexpected string literal; expected '}'");
  EXPECT_NE(fault("{").find("1: unexpected end of input"), std::string::npos);
  EXPECT_EQ(fault(nested(deepest_json + 1)), "0: lists and objects nest deeper than 200");
}

// A million brackets parse, but end the program as soon as the value is copied or printed.
TEST(ParseJson, RefusesWhatNestsTooDeep) {
  EXPECT_FALSE(parse_json(nested(deepest_json)).is_discarded());
  EXPECT_TRUE(parse_json(nested(deepest_json + 1)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
}

TEST(ParseCbor, GivesTheValueOrADiscardedOne) {
  const nlohmann::json value = {{"a", {1, -2.5, "text", nullptr, true}}, {"b", {{"c", "d"}}}};
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  EXPECT_EQ(parse_cbor(bytes), value);
  EXPECT_TRUE(parse_cbor("").is_discarded());
  EXPECT_TRUE(parse_cbor(bytes.substr(0, bytes.size() - 1)).is_discarded());
  EXPECT_TRUE(parse_cbor("\x9b\x7f\xff\xff\xff\xff\xff\xff\xff").is_discarded());  // a long list
}

// The library calls itself for each level, which ends the program.
TEST(ParseCbor, RefusesWhatNestsTooDeep) {
  for (const char* level :
       {"\x81", "\x9f", "\xa1\x60", "\x7f", "\x5f", "\x7f\x60", "\x5f\x41\x5f"}) {
    std::string bytes;
    for (int i = 0; i < 1'000'000; ++i) bytes += level;
    EXPECT_TRUE(parse_cbor(bytes).is_discarded()) << level;
  }
}

TEST(ParseCbor, TakesTextsWhateverTheyHold) {
  const nlohmann::json value = {{"a", std::string(20'000, '_')},
                                {"b", {std::string(20'000, '\x7f'), std::string(300, '_')}}};
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  EXPECT_EQ(parse_cbor(bytes), value);
  EXPECT_EQ(parse_cbor("\x82\x7f\x61_\x62__\xff\x7f\x61_\xff"), nlohmann::json({"___", "_"}));
}

TEST(ParseJson, BracketsInTextsAreNoLevels) {
  const std::string text = "[\"\\\"" + std::string(5000, '[') + "\\\\\", []]";
  EXPECT_EQ(parse_json(text).size(), 2u);
}

TEST(ParseJson, BracketsOneAfterTheOtherAreNoLevels) {
  std::string text = "[[]";
  for (int i = 0; i < 5000; ++i) text += ",[]";
  EXPECT_EQ(parse_json(text + "]").size(), 5001u);
}

}  // namespace
}  // namespace lockstep
