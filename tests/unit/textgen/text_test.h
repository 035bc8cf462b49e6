// What the tests of the text recipe share: made files, made text, and preparing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "fakes/error_of.h"
#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/options/token_file.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

using Settings = std::vector<std::pair<std::string, std::string>>;

// A folder with files and a cache.
class TextTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string path(const std::string& name = {}) const { return (folder_.path() / name).string(); }

  Prepared prepare(const Settings& settings, const std::string& cache = "cache",
                   Purpose purpose = Purpose::train, const std::string& run = {}) {
    TextOptions options;
    for (const auto& [key, value] : settings) options.table.set(key, value);
    options.check(TrainOptions());
    return options.prepare({.purpose = purpose,
                            .cache_dir = folder_.path() / cache,
                            .run_dir = run,
                            .say = [this](const std::string& line) { said_ += line + "\n"; }});
  }
  // Makes the run folder that `keep` would become.
  std::string keep(const Prepared& prepared, const std::string& run = "run") {
    const std::filesystem::path recipe = folder_.path() / run / "recipe";
    std::filesystem::create_directories(recipe);
    for (const std::filesystem::path& file : prepared.keep)
      std::filesystem::copy_file(file, recipe / file.filename(),
                                 std::filesystem::copy_options::overwrite_existing);
    return recipe.parent_path().string();
  }

  TemporaryDirectory folder_;
  std::string said_;
};

inline Tokens tokens_of(const std::string& path) {
  const TokenFile file(path);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.size()));
  file.copy(0, file.size(), tokens.data());
  return {tokens.begin(), tokens.end()};
}

// Valid UTF-8 of `length` characters, of every size, with many spaces and line feeds; no NUL, and
// not U+2581, which sentencepiece uses for spaces.
inline std::string random_text(std::mt19937_64& random, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    char32_t c = 0;
    switch (random() % 8) {
      case 0:
        c = ' ';
        break;
      case 1:
        c = "\n\t 's"[random() % 5];
        break;
      case 2:
        c = static_cast<char32_t>(0x80 + random() % 0x780);
        break;
      case 3:
        c = static_cast<char32_t>(0x800 + random() % 0xC000);
        break;
      case 4:
        c = static_cast<char32_t>(0x10000 + random() % 0x10000);
        break;
      default:
        c = static_cast<char32_t>('!' + random() % 94);
    }
    if (c == 0x2581) c = 'x';
    append_utf8(text, c);
  }
  return text;
}

// Plain made-up prose: words of a small vocabulary.
inline std::string prose(std::uint64_t seed, std::size_t words) {
  static const char* vocabulary[] = {"the",  "quick", "brown", "fox",     "jumps", "over",
                                     "lazy", "dogs",  "and",   "doesn't", "look",  "behind"};
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < words; ++i)
    text += cat(vocabulary[random() % 12], random() % 9 == 0 ? ".\n" : " ");
  return text;
}

// GPT-2's files with a token for each byte, one for each of `merges` ("a b"), and the end of text.
struct Gpt2Files {
  std::string vocab, merges;
};
inline Gpt2Files make_gpt2_files(const std::vector<std::string>& merges) {
  nlohmann::json vocab;
  std::int64_t next = 0;
  for (char32_t byte = 0, other = 256; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    std::string text;
    append_utf8(text, printable ? byte : other++);
    vocab[text] = next++;
  }
  std::string lines = "#version: 0.2\n";
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ');
    const std::string joined = merge.substr(0, space) + merge.substr(space + 1);
    if (!vocab.contains(joined)) vocab[joined] = next++;
    lines += merge + "\n";
  }
  vocab["<|endoftext|>"] = next;
  return {vocab.dump(), lines};
}
inline std::vector<std::string> english_merges() {
  return {"t h", "Ġ t", "h e",   "Ġ th", "Ġt he", "Ġth e", "th e", "l l", "o o", "oo k",
          "Ġ a", "n d", "Ġa nd", "Ġ Ġ",  "' t",   "i n",   "Ã ©",  "q u", "e r", "o v"};
}

}  // namespace lockstep::textgen
