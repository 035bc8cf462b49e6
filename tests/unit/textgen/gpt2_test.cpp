#include <limits>
#include <map>

#include "recipes/textgen/prepare/tokenizers/merges.h"
#include "recipes/textgen/prepare/tokenizers/word_splitter.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  WordPattern().split(text, [&](std::string_view word) { all.emplace_back(word); });
  return all;
}

using Words = std::vector<std::string>;

TEST(WordPattern, SplitsContractions) {
  EXPECT_EQ(words("I'll say it's what we've done, they'd don't I'm you're"),
            (Words{"I", "'ll", " say", " it", "'s", " what", " we", "'ve", " done", ",", " they",
                   "'d", " don", "'t", " I", "'m", " you", "'re"}));
  EXPECT_EQ(words("IT'S"), (Words{"IT", "'", "S"}));  // capitals are no contraction in GPT-2
}

TEST(WordPattern, LeavesTheLastSpaceToTheWordThatFollows) {
  EXPECT_EQ(words("a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(words("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(words("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words("a\n  b"), (Words{"a", "\n ", " b"}));
  EXPECT_EQ(words("a  "), (Words{"a", "  "}));
  EXPECT_EQ(words(" a"), (Words{" a"}));
}

TEST(WordPattern, KnowsLettersNumbersAndSpacesOfUnicode) {
  EXPECT_EQ(words("caf\u00e9 \u0416\u0443\u043a 12\u00b2x \u6f22\u5b57!"),
            (Words{"caf\u00e9", " \u0416\u0443\u043a", " 12\u00b2", "x", " \u6f22\u5b57", "!"}));
  EXPECT_EQ(words("a\u00a0b\u3000c"), (Words{"a", "\u00a0", "b", "\u3000", "c"}));
  EXPECT_EQ(words("a\u180eb"), (Words{"a", "\u180e", "b"}));
  EXPECT_EQ(words("e\u0301"), (Words{"e", "\u0301"}));  // a combining mark is no letter
}

TEST(WordPattern, LosesNothing) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(random, 60);
    EXPECT_EQ(join(words(text), ""), text);
  }
}

// What the cuts of the chunks rely on.
TEST(WordPattern, NeverReachesOverAVisibleCharacterAndASpace) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(random, 60);
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] != ' ' || text[at - 1] <= ' ' || text[at - 1] >= 127) continue;
      Words parts = words(text.substr(0, at));
      for (const std::string& word : words(text.substr(at))) parts.push_back(word);
      ASSERT_EQ(parts, words(text));
    }
  }
}

// As GPT-2's own program does it: join all of the pair of lowest rank, again and again.
Tokens joined_slowly(
    Tokens tokens, const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& ranks) {
  while (true) {
    std::uint32_t best = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (const auto found = ranks.find({tokens[i], tokens[i + 1]}); found != ranks.end())
        best = std::min(best, found->second);
    if (best == std::numeric_limits<std::uint32_t>::max()) return tokens;
    Tokens next;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto found =
          i + 1 < tokens.size() ? ranks.find({tokens[i], tokens[i + 1]}) : ranks.end();
      const bool join = found != ranks.end() && found->second == best;
      next.push_back(join ? 1000 + best : tokens[i]);
      i += join;
    }
    tokens = std::move(next);
  }
}

TEST(Merges, JoinWhatTheSlowWayJoins) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    Merges merges;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < 30; ++rank) {
      const auto pick = [&]() -> std::uint32_t {  // a letter or an earlier result, as in training
        return rank > 0 && random() % 2 == 0 ? 1000 + static_cast<std::uint32_t>(random() % rank)
                                             : static_cast<std::uint32_t>(random() % 4);
      };
      const std::uint32_t left = pick(), right = pick();
      if (!ranks.try_emplace({left, right}, rank).second) continue;
      merges.add(left, right, 1000 + rank, rank);
    }
    Tokens tokens(random() % 60);
    for (std::uint32_t& token : tokens) token = static_cast<std::uint32_t>(random() % 4);
    Tokens fast = tokens;
    merges.apply(fast);
    ASSERT_EQ(fast, joined_slowly(tokens, ranks));
  }
}

TEST(Gpt2Tokenizer, EncodesWithTheGivenMerges) {
  const Gpt2Files files = make_gpt2_files(english_merges());
  const auto tokenizer = make_gpt2_tokenizer(files.vocab, files.merges, "here");
  const auto pieces = [&](const std::string& text) {
    Words all;
    for (const std::uint32_t token : tokenizer->encode(text))
      all.push_back(tokenizer->piece(token));
    return all;
  };
  EXPECT_EQ(pieces("the theme and look"),
            (Words{"the", " the", "m", "e", " and", " ", "l", "ook"}));
  EXPECT_EQ(pieces("don't"), (Words{"d", "o", "n", "'t"}));
  EXPECT_EQ(pieces("\u00e9"), (Words{"\u00e9"}));
  EXPECT_EQ(pieces("    x"), (Words{"  ", " ", " ", "x"}));
  EXPECT_EQ(tokenizer->separator(), tokenizer->vocabulary() - 1);
  EXPECT_EQ(tokenizer->piece(tokenizer->separator()), "");
}

TEST(Gpt2Tokenizer, NamesWhatIsWrongWithItsFiles) {
  const Gpt2Files good = make_gpt2_files({"t h"});
  const auto error = [](const std::string& vocab, const std::string& merges) {
    return error_if_any([&] { make_gpt2_tokenizer(vocab, merges, "dir"); });
  };
  EXPECT_EQ(error(good.vocab, good.merges), "");
  EXPECT_NE(error("[1]", good.merges).find("dir/vocab.json must be an object"), std::string::npos);
  EXPECT_NE(error("{}", good.merges).find("no token for the byte 0"), std::string::npos);
  EXPECT_NE(error(good.vocab, "t h\nzz q\n").find("dir/merges.txt line 2"), std::string::npos);
  EXPECT_NE(error(good.vocab, "t\n").find("merges.txt line 1"), std::string::npos);
  nlohmann::json gap = nlohmann::json::parse(good.vocab);
  gap["th"] = 5000;
  EXPECT_NE(error(gap.dump(), "").find("without gaps"), std::string::npos);
  gap.erase("<|endoftext|>");
  gap["th"] = 256;
  EXPECT_NE(error(gap.dump(), "").find("no token <|endoftext|>"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::textgen
