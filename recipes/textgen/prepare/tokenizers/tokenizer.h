// The interface of tokenizers, which convert text to tokens and back.
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

// Encodes texts on one thread. An encoder may cache results for later texts. The tokenizer must
// outlive its encoders.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the tokens of `text` to `out`. The text must be valid UTF-8, unless takes_any_bytes()
  // of the tokenizer is true. Throws Error if a character is not in the vocabulary.
  virtual void encode(std::string_view text, Tokens& out) = 0;
};

// Tokenizers are immutable, so several threads may use one at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string kind() const = 0;  // the value of tokenizer.kind
  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t separator() const = 0;  // token between documents; -1: none
  virtual bool takes_any_bytes() const { return false; }
  // Returns true if a text may be cut between any two characters. Encoding the parts then gives the
  // same tokens as encoding the whole text. If false, a text may only be cut before a space that
  // follows a visible character. No token crosses that position.
  virtual bool may_cut_anywhere() const { return false; }
  // Returns the bytes of a token. The result is empty for the separator.
  virtual std::string piece(std::int64_t token) const = 0;
  virtual std::unique_ptr<Encoder> encoder() const = 0;
  // Returns the names and contents of the files that load_tokenizer() needs in addition to
  // tokenizer.json.
  virtual std::vector<std::pair<std::string, std::string>> files() const { return {}; }
  // Returns the members that tokenizer.json has in addition to the kind.
  virtual nlohmann::json description() const { return nlohmann::json::object(); }

  Tokens encode(std::string_view text) const;
  std::string decode(std::span<const std::uint32_t> tokens) const;
  std::vector<std::string> pieces() const;
};

// Writes tokenizer.json, files(), pieces.bin and bytes.bin into an existing folder. Returns their
// names. pieces.bin is a file of options/token_pieces.h. bytes.bin is a token file
// (options/token_file.h) with the number of bytes of each piece.
std::vector<std::string> save_tokenizer(const Tokenizer& tokenizer,
                                        const std::filesystem::path& folder);
// Loads a tokenizer from a folder that save_tokenizer() filled. Throws Error if a file is absent or
// damaged.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// Returns a tokenizer for which each byte is a token. The separator is byte 0, which texts do not
// contain.
std::unique_ptr<Tokenizer> make_byte_tokenizer();

// Returns a tokenizer for which each of `characters`, sorted, is a token. With `replacement`, one
// more token stands for unknown characters. Its piece is U+FFFD. With `separator`, there is another
// token at the end, which separates documents.
std::unique_ptr<Tokenizer> make_char_tokenizer(std::vector<char32_t> characters, bool replacement,
                                               bool separator);
std::unique_ptr<Tokenizer> load_char_tokenizer(const nlohmann::json& description);

// Makes GPT-2's byte-level BPE from the contents of vocab.json and merges.txt. Throws Error, which
// names `where`, if they are damaged.
std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const std::string& vocab_json,
                                               const std::string& merges_txt,
                                               const std::string& where);

// Makes a tokenizer from a serialized sentencepiece model. Throws Error, which names `where`, if
// the model is damaged or cannot be used.
std::unique_ptr<Tokenizer> make_bpe_tokenizer(const std::string& model, const std::string& where);
// Trains a sentencepiece model with `vocabulary` pieces, and returns it serialized. The same lines
// give the same model. Lines must be valid UTF-8. If the lines have too little text for this
// vocabulary, throws Error that names the largest possible number of pieces.
std::string train_bpe(const std::vector<std::string>& lines, std::int64_t vocabulary);

}  // namespace lockstep::textgen
