#include <set>

#include "recipes/textgen/options/token_pieces.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) lines.push_back(line + "\n");
  return lines;
}

std::vector<std::unique_ptr<Tokenizer>> all_tokenizers(const std::string& text) {
  std::vector<std::unique_ptr<Tokenizer>> all;
  all.push_back(make_byte_tokenizer());
  std::vector<char32_t> characters;
  for (std::string_view rest = text; !rest.empty();
       rest.remove_prefix(next_code_point(rest).length))
    characters.push_back(next_code_point(rest).value);
  all.push_back(make_char_tokenizer(characters, false, true));
  const Gpt2Files files = make_gpt2_files(english_merges());
  all.push_back(make_gpt2_tokenizer(files.vocab, files.merges, "here"));
  all.push_back(make_bpe_tokenizer(train_bpe(lines_of(prose(1, 3000)), 330), "here"));
  return all;
}

TEST(Tokenizers, GiveBackAnyText) {
  std::mt19937_64 random(6);
  std::string all_text = prose(2, 200) + "  \t\n\n  <unk> </s> <0x41> <|endoftext|> ";
  for (int i = 0; i < 50; ++i) all_text += random_text(random, 80);
  for (const auto& tokenizer : all_tokenizers(all_text)) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(all_text)), all_text) << tokenizer->kind();
    for (int i = 0; i < 50; ++i) {
      const std::string text =
          tokenizer->kind() == "chars" ? prose(random(), 20) : random_text(random, 30);
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << tokenizer->kind();
    }
    for (const std::uint32_t token : tokenizer->encode(all_text))
      ASSERT_NE(token, tokenizer->separator()) << tokenizer->kind();
  }
}

TEST(Tokenizers, AreTheSameAfterTheyWereKept) {
  const std::string text = prose(3, 100);
  for (const auto& tokenizer : all_tokenizers(text)) {
    const TemporaryDirectory folder;
    const auto names = save_tokenizer(*tokenizer, folder.path());
    EXPECT_EQ(static_cast<long>(names.size()),
              std::distance(std::filesystem::directory_iterator(folder.path()), {}));
    const auto loaded = load_tokenizer(folder.path());
    EXPECT_EQ(loaded->kind(), tokenizer->kind());
    EXPECT_EQ(loaded->separator(), tokenizer->separator());
    EXPECT_EQ(loaded->pieces(), tokenizer->pieces());
    EXPECT_EQ(loaded->encode(text), tokenizer->encode(text));
    const TokenPieces pieces(folder.path() / "pieces.bin");
    const TokenFile lengths(folder.path() / "bytes.bin");
    ASSERT_EQ(pieces.size(), tokenizer->vocabulary());
    ASSERT_EQ(lengths.size(), tokenizer->vocabulary());
    std::string decoded;
    std::int64_t bytes = 0;
    for (const std::uint32_t token : tokenizer->encode(text)) {
      decoded += pieces.bytes(token);
      bytes += lengths.at(token);
    }
    EXPECT_EQ(decoded, text);
    EXPECT_EQ(bytes, static_cast<std::int64_t>(text.size()));
  }
}

TEST(Tokenizers, ThatAreDamagedAreRefused) {
  const TemporaryDirectory folder;
  const std::string deep = R"({"kind":)" + std::string(100'000, '[');
  for (const std::string& bad :
       {std::string("{"), std::string("[]"), std::string(R"({"kind": 7})"), deep,
        std::string(R"({"kind": "words"})"), std::string(R"({"kind": "chars"})")}) {
    write_file_atomic(folder.path() / "tokenizer.json", bad);
    EXPECT_THROW(load_tokenizer(folder.path()), Error) << bad.substr(0, 40);
  }
  for (const char* character : {"-1", "1.5", "1e300", "\"a\"", "1114112", "55296", "4294967296"}) {
    write_file_atomic(
        folder.path() / "tokenizer.json",
        cat(R"({"kind":"chars","replacement":true,"separator":true,"characters":[97,)", character,
            "]}"));
    EXPECT_THROW(load_tokenizer(folder.path()), Error) << character;
  }
}

TEST(Tokenizers, MayBeCutBeforeASpace) {
  for (const auto& tokenizer : all_tokenizers(prose(4, 50))) {
    const std::string text = prose(4, 50);
    const Tokens whole = tokenizer->encode(text);
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] != ' ' || text[at - 1] <= ' ') continue;
      Tokens parts = tokenizer->encode(text.substr(0, at));
      const Tokens rest = tokenizer->encode(text.substr(at));
      parts.insert(parts.end(), rest.begin(), rest.end());
      ASSERT_EQ(parts, whole) << tokenizer->kind();
    }
  }
}

TEST(CharTokenizer, SortsItsCharactersAndHasExtraEntriesOnlyOnRequest) {
  const auto plain = make_char_tokenizer({U'c', U'a', U'b', U'a'}, false, false);
  EXPECT_EQ(plain->vocabulary(), 3);
  EXPECT_EQ(plain->separator(), -1);
  EXPECT_EQ(plain->encode("abc"), (Tokens{0, 1, 2}));
  EXPECT_NE(error_if_any([&] {
              plain->encode("ad");
            }).find("\"d\" is not in the model's vocabulary of 3"),
            std::string::npos);
  const auto extra = make_char_tokenizer({U'a', U'b'}, true, true);
  EXPECT_EQ(extra->vocabulary(), 4);
  EXPECT_EQ(extra->encode("a?b"), (Tokens{0, 2, 1}));
  EXPECT_EQ(extra->separator(), 3);
  EXPECT_EQ(extra->piece(2), "\xEF\xBF\xBD");
}

TEST(BpeTokenizer, IsTheSameEachTimeItIsTrained) {
  const auto lines = lines_of(prose(5, 2000));
  EXPECT_EQ(train_bpe(lines, 320), train_bpe(lines, 320));
}

TEST(BpeTokenizer, HasTheVocabularyAskedForAndPacksText) {
  const auto tokenizer = make_bpe_tokenizer(train_bpe(lines_of(prose(5, 2000)), 330), "here");
  EXPECT_EQ(tokenizer->vocabulary(), 330);
  const std::string text = prose(9, 300);
  EXPECT_LT(tokenizer->encode(text).size() * 3, text.size());
}

TEST(BpeTokenizer, SaysHowLargeAVocabularyTheCorpusAllows) {
  const std::string error = error_if_any([] { train_bpe(lines_of(prose(5, 200)), 20000); });
  EXPECT_NE(error.find("tokenizer.vocab must be at most"), std::string::npos) << error;
  EXPECT_NE(error.find("but is 20000"), std::string::npos) << error;
}

TEST(BpeTokenizer, SaysThatAVocabularyIsTooSmallForTheCharacters) {
  std::string text;
  for (char32_t c = 0x4E00; c < 0x4F00; ++c) append_utf8(text, c);
  const std::string error = error_if_any([&] { train_bpe({text, text}, 300); });
  EXPECT_NE(error.find("tokenizer.vocab must be larger than"), std::string::npos) << error;
}

TEST(BpeTokenizer, RefusesWhatIsNoModel) {
  EXPECT_NE(error_if_any([] {
              make_bpe_tokenizer("rubbish", "x.model");
            }).find("x.model is not a sentencepiece model"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::textgen
