// Text from a model: when it ends, and what the draws depend on.
#include "recipes/textgen/model/generation/generate.h"

#include "tests/unit/textgen-model/tiny.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace lockstep::textgen {
namespace {

const std::string letters = "abcdefghijk";
std::string_view letter(std::int64_t token) {
  return std::string_view(letters).substr(static_cast<std::size_t>(token), 1);
}

struct Made {
  std::map<std::int64_t, std::string> texts;
  std::map<std::int64_t, int> parts;
};

Made make(const Gpt& model, const TokenIds& prompt, const GenerateOptions& options,
          std::int64_t first = 0, std::int64_t count = 1) {
  Made made;
  generate(model, quiet(), letter, prompt, options, first, count,
           [&](std::int64_t sequence, const std::string& text) {
             made.texts[sequence] += text;
             ++made.parts[sequence];
           });
  return made;
}

TEST(Generate, MakesAsManyTokensAsAskedFarBeyondTheContext) {
  const Gpt model(tiny_shape(), 1);
  for (const std::int64_t tokens : {1, 5, 6, 7, 40})
    EXPECT_EQ(make(model, {1, 2}, {.tokens = tokens}).texts[0].size(), tokens);
}

TEST(Generate, StreamsTokenByToken) {
  const Gpt model(tiny_shape(), 1);
  EXPECT_EQ(make(model, {1, 2}, {.tokens = 9}).parts[0], 9);
}

TEST(Generate, FollowsTheMostLikelyTokens) {
  const Gpt model(tiny_shape(), 1);
  const std::string text =
      make(model, {1, 2}, {.sampler = {.temperature = 0}, .tokens = 12}).texts[0];
  IncrementalGpt reader(model, 1, quiet());
  at::Tensor logits = reader.read({{1, 2}});
  for (const char c : text) {
    const auto best = logits[0].argmax().item<std::int64_t>();
    EXPECT_EQ(c, letters[static_cast<std::size_t>(best)]);
    logits = reader.read({{best}});
  }
}

TEST(Generate, GivesASequenceWhateverStandsBesideIt) {
  const Gpt model(tiny_shape(), 1);
  const GenerateOptions options{.seed = 3, .tokens = 15};
  const Made together = make(model, {4}, options, 0, 5);
  ASSERT_EQ(together.texts.size(), 5);
  for (const auto& [number, text] : together.texts)
    EXPECT_EQ(make(model, {4}, options, number, 1).texts.at(number), text);
  EXPECT_NE(together.texts.at(0), together.texts.at(1));
}

TEST(Generate, DependsOnTheSeed) {
  const Gpt model(tiny_shape(), 1);
  const auto text = [&](std::uint64_t seed) {
    return make(model, {4}, {.seed = seed, .tokens = 30}).texts[0];
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(Generate, EndsEachSequenceBeforeItsStopString) {
  const Gpt model(tiny_shape(), 1);
  const GenerateOptions endless{.seed = 3, .tokens = 60};
  GenerateOptions options = endless;
  const Made whole = make(model, {4}, endless, 0, 4);
  options.stop = whole.texts.at(0).substr(20, 2);
  const Made stopped = make(model, {4}, options, 0, 4);
  for (const auto& [number, text] : whole.texts) {
    const auto found = text.find(options.stop);
    const auto part = stopped.texts.find(number);
    EXPECT_EQ(part == stopped.texts.end() ? "" : part->second, text.substr(0, found)) << number;
  }
}

TEST(Generate, EndsAtTheEndToken) {
  const Gpt model(tiny_shape(), 1);
  GenerateOptions options{.seed = 3, .tokens = 60};
  const std::string whole = make(model, {4}, options).texts[0];
  const std::size_t at = whole.find_first_not_of(whole[0]);
  ASSERT_NE(at, std::string::npos);
  options.end = static_cast<std::int64_t>(letters.find(whole[at]));
  EXPECT_EQ(make(model, {4}, options).texts[0], whole.substr(0, at));
}

TEST(Generate, NeverEndsBeforeItsFirstToken) {
  const Gpt model(tiny_shape(), 1);
  GenerateOptions options{.seed = 3, .tokens = 60};
  const std::string whole = make(model, {4}, options).texts[0];
  options.end = static_cast<std::int64_t>(letters.find(whole[0]));
  const std::string text = make(model, {4}, options).texts[0];
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.find(whole[0]), std::string::npos);
}

TEST(Generate, DrawsNoTokenOfThePaddedVocabulary) {
  const Gpt model(tiny_shape(), 1);
  const std::string text = make(model, {1}, {.tokens = 300, .vocab = 4}).texts[0];
  EXPECT_EQ(text.find_first_not_of("abcd"), std::string::npos);
  EXPECT_NE(text.find('d'), std::string::npos);
}

TEST(Generate, JoinsCharactersThatTokensCutInTwo) {
  const Gpt model(tiny_shape(), 1);
  const std::string bytes = "\xC3\xA9";  // token 0 and 1 are halves of one character
  std::string text;
  generate(
      model, quiet(),
      [&](std::int64_t token) { return std::string_view(bytes).substr(token == 0 ? 0 : 1, 1); },
      {1}, {.tokens = 200, .vocab = 2}, 0, 1,
      [&](std::int64_t, const std::string& part) {
        EXPECT_TRUE(part.find_first_not_of("\u00e9\uFFFD") == std::string::npos);
        EXPECT_GE(part.size(), 2);
        text += part;
      });
  EXPECT_NE(text.find("\u00e9"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::textgen
