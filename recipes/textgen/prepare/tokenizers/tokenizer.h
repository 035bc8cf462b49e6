// Converts text to tokens and back: the interface of all tokenizers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::textgen {

using Tokens = std::vector<std::uint32_t>;

// An encoder for one thread; it keeps results for later texts. Must not outlive its tokenizer.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the tokens of `text`, which is valid UTF-8 unless the tokenizer takes any bytes.
  // Throws Error for a character that the vocabulary cannot express.
  virtual void encode(std::string_view text, Tokens& out) = 0;
};

// Immutable, so thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string kind() const = 0;  // as typed in the option
  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t separator() const = 0;  // token between documents; -1 = none
  virtual bool takes_any_bytes() const { return false; }
  // Whether a text may be cut between any two characters, so that encoding the parts gives the
  // tokens of the whole. Otherwise it may only be cut before a space that follows a visible
  // character, because no token crosses that place.
  virtual bool may_cut_anywhere() const { return false; }   // between any two characters
  virtual std::string piece(std::int64_t token) const = 0;  // its bytes; empty for separators
  virtual std::unique_ptr<Encoder> encoder() const = 0;
  // Files that `load_tokenizer` needs in addition to tokenizer.json: names and contents.
  virtual std::vector<std::pair<std::string, std::string>> files() const { return {}; }
  // The content of tokenizer.json in addition to the kind.
  virtual nlohmann::json description() const { return nlohmann::json::object(); }

  Tokens encode(std::string_view text) const;
  std::string decode(std::span<const std::uint32_t> tokens) const;
  std::vector<std::string> pieces() const;
};

// Writes tokenizer.json, files(), pieces.bin and bytes.bin into an existing folder; returns their
// names. bytes.bin is a token file with the number of bytes of each piece.
std::vector<std::string> save_tokenizer(const Tokenizer& tokenizer,
                                        const std::filesystem::path& folder);
// Loads a tokenizer from a folder that `save_tokenizer` wrote. Throws Error if it is absent or
// damaged.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// Each byte is a token. The separator is 0, which texts do not contain.
std::unique_ptr<Tokenizer> make_byte_tokenizer();

// Each character of `characters`, sorted, is a token. If requested, further tokens follow: for
// unknown characters (its piece is U+FFFD), and for the separator of documents.
std::unique_ptr<Tokenizer> make_char_tokenizer(std::vector<char32_t> characters, bool replacement,
                                               bool separator);
std::unique_ptr<Tokenizer> load_char_tokenizer(const nlohmann::json& description);

// GPT-2's byte-level BPE, from the texts of vocab.json and merges.txt. Errors name `where`.
std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const std::string& vocab_json,
                                               const std::string& merges_txt,
                                               const std::string& where);

// Makes a tokenizer from a serialized sentencepiece model. Errors name `where`.
std::unique_ptr<Tokenizer> make_bpe_tokenizer(const std::string& model, const std::string& where);
// Trains a model with `vocabulary` entries. The same lines give the same model. Lines must be valid
// UTF-8. If there are too few lines, throws Error that names the largest possible vocabulary.
std::string train_bpe(const std::vector<std::string>& lines, std::int64_t vocabulary);

}  // namespace lockstep::textgen
