// GPT-2's byte-level BPE, loaded from vocab.json and merges.txt.
#include <array>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/tokenizers/merges.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"
#include "recipes/textgen/prepare/tokenizers/word_splitter.h"

namespace lockstep::textgen {
namespace {

constexpr const char* end_of_text = "<|endoftext|>";

// The character that represents each byte in the files. A printable byte represents itself. The
// others use the characters from U+0100 on, in order.
std::array<char32_t, 256> byte_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
                           (byte >= 0xAE && byte <= 0xFF);
    characters[byte] = printable ? byte : next++;
  }
  return characters;
}

class Gpt2Tokenizer : public Tokenizer {
 public:
  Gpt2Tokenizer(std::string vocab_json, std::string merges_txt, const std::string& where)
      : vocab_json_(std::move(vocab_json)), merges_txt_(std::move(merges_txt)) {
    read_vocabulary(where);
    read_merges(where);
  }

  std::string kind() const override { return "gpt2"; }
  std::int64_t vocabulary() const override { return static_cast<std::int64_t>(pieces_.size()); }
  std::int64_t separator() const override { return separator_; }
  std::string piece(std::int64_t token) const override {
    return token == separator_ ? std::string() : pieces_[static_cast<std::size_t>(token)];
  }
  std::unique_ptr<Encoder> encoder() const override;
  std::vector<std::pair<std::string, std::string>> files() const override {
    return {{"vocab.json", vocab_json_}, {"merges.txt", merges_txt_}};
  }

  // Encodes a word that the pattern found.
  void encode_word(std::string_view word, Tokens& tokens) const {
    for (const char c : word) tokens.push_back(byte_tokens_[static_cast<unsigned char>(c)]);
    merges_.apply(tokens);
  }
  const WordPattern& pattern() const { return pattern_; }

 private:
  void read_vocabulary(const std::string& where);
  void read_merges(const std::string& where);
  void add_merge(const std::string& line, std::int64_t number, const std::string& where);

  std::string vocab_json_, merges_txt_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // by the text in the file
  std::vector<std::string> pieces_;                     // the bytes of each token
  std::array<std::uint32_t, 256> byte_tokens_{};
  std::int64_t separator_ = -1;
  Merges merges_;
  WordPattern pattern_;
};

constexpr const char* files_hint =
    "take vocab.json and merges.txt from the same GPT-2 model, whole and unchanged";

void Gpt2Tokenizer::read_vocabulary(const std::string& where) {
  const std::string path = where + "/vocab.json";
  const nlohmann::json vocabulary = parse_json(vocab_json_);
  if (!vocabulary.is_object())
    throw Error(cat(path, " must be an object of token: number, but is no JSON object"),
                files_hint);
  for (const auto& [text, id] : vocabulary.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary.size())
      throw Error(cat(path, " must number its ", vocabulary.size(),
                      " tokens from 0 on without gaps, but \"", text, "\" has ", id.dump()),
                  files_hint);
    ids_[text] = id.get<std::uint32_t>();
  }
  const std::array<char32_t, 256> characters = byte_characters();
  std::unordered_map<char32_t, char> bytes;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    bytes[characters[byte]] = static_cast<char>(byte);
    std::string text;
    append_utf8(text, characters[byte]);
    const auto found = ids_.find(text);
    if (found == ids_.end())
      throw Error(cat(path, " has no token for the byte ", byte, ", written \"", text, "\""),
                  files_hint);
    byte_tokens_[byte] = found->second;
  }
  std::vector<bool> seen(ids_.size());
  pieces_.resize(ids_.size());
  for (const auto& [text, id] : ids_) {
    if (seen[id])
      throw Error(cat(path, " must number its ", ids_.size(),
                      " tokens from 0 on without gaps, but \"", text, "\" has ", id),
                  files_hint);
    seen[id] = true;
    for (std::string_view rest = text; !rest.empty();) {
      const CodePoint point = next_code_point(rest);
      const auto byte = bytes.find(point.value);
      if (byte != bytes.end()) pieces_[id] += byte->second;
      rest.remove_prefix(point.length);
    }
  }
  const auto end = ids_.find(end_of_text);
  if (end == ids_.end()) throw Error(cat(path, " has no token ", end_of_text), files_hint);
  separator_ = end->second;
}

void Gpt2Tokenizer::add_merge(const std::string& line, std::int64_t number,
                              const std::string& where) {
  const std::vector<std::string> words = lockstep::split(line, ' ');
  const auto find = [&](const std::string& word) {
    const auto found = ids_.find(word);
    if (words.size() != 2 || found == ids_.end())
      throw Error(
          cat(where, "/merges.txt line ", number,
              " must be two tokens of vocab.json that together are a third, but is \"", line, "\""),
          files_hint);
    return found->second;
  };
  const std::uint32_t left = find(words[0]), right = find(words.back());
  merges_.add(left, right, find(words[0] + words.back()), static_cast<std::uint32_t>(number));
}

void Gpt2Tokenizer::read_merges(const std::string& where) {
  std::int64_t number = 0;
  for (std::string line : lockstep::split(merges_txt_, '\n')) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    add_merge(line, number, where);
  }
}

// Caches the tokens of words, because words repeat.
class Gpt2Encoder : public Encoder {
 public:
  explicit Gpt2Encoder(const Gpt2Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void encode(std::string_view text, Tokens& out) override {
    tokenizer_.pattern().split(text, [&](std::string_view word) {
      const std::string key(word);
      auto found = cache_.find(key);
      if (found == cache_.end()) {
        if (cache_.size() >= largest_cache) cache_.clear();
        Tokens tokens;
        tokenizer_.encode_word(word, tokens);
        if (word.size() > longest_cached) {
          out.insert(out.end(), tokens.begin(), tokens.end());
          return;
        }
        found = cache_.emplace(key, std::move(tokens)).first;
      }
      out.insert(out.end(), found->second.begin(), found->second.end());
    });
  }

 private:
  static constexpr std::size_t largest_cache = 1 << 17, longest_cached = 256;
  const Gpt2Tokenizer& tokenizer_;
  std::unordered_map<std::string, Tokens> cache_;
};

std::unique_ptr<Encoder> Gpt2Tokenizer::encoder() const {
  return std::make_unique<Gpt2Encoder>(*this);
}

}  // namespace

std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const std::string& vocab_json,
                                               const std::string& merges_txt,
                                               const std::string& where) {
  return std::make_unique<Gpt2Tokenizer>(vocab_json, merges_txt, where);
}

}  // namespace lockstep::textgen
