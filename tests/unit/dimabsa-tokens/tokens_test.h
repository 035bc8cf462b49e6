// Model folders and pieces for the tests of tokenizers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/files.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

class TokensTest : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
  }
  std::unique_ptr<Tokenizer> open() const { return open_tokenizer(folder()); }
  std::filesystem::path folder() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

// What each piece stands for in the text.
inline std::vector<std::string> places(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> out;
  for (const Piece& piece : tokenizer.encode(text))
    out.emplace_back(text.substr(piece.begin, piece.end - piece.begin));
  return out;
}

inline std::vector<std::int64_t> ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int64_t> out;
  for (const Piece& piece : tokenizer.encode(text)) out.push_back(piece.id);
  return out;
}

}  // namespace lockstep::dimabsa
