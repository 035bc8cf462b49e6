// Cuts text into word pieces, as the tokenizer of a BERT, XLM-R or DeBERTa-v3 folder does. This
// header does not depend on LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

struct Piece {
  std::int64_t id = 0;
  std::uint32_t begin = 0, end = 0;  // bytes [begin, end) of the text
  bool begins_word = false;          // whether it is the first piece of its word
};

// Several threads may use a tokenizer at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Returns the pieces of a text, without special tokens before and after it. Bytes that are not
  // UTF-8 are read as U+FFFD. "[SEP]" in the text becomes that special token, as in
  // BertTokenizerFast, but "[sep]" is ordinary text. Pieces are in the order of the text and never
  // empty. No piece begins or ends within a character. If one character gives several pieces, each
  // of them has all bytes of the character. A combining mark at the end of a word, such as U+0301,
  // may belong to no piece.
  virtual std::vector<Piece> encode(std::string_view text) const = 0;
  virtual std::int64_t vocabulary() const = 0;  // all ids are below this
  // Return the ids of special tokens. In BERT, the special tokens are [CLS], [SEP], [PAD] and
  // [UNK]. In XLM-R, they are <s>, </s>, <pad> and <unk>.
  virtual std::int64_t cls() const = 0;
  virtual std::int64_t sep() const = 0;
  virtual std::int64_t pad() const = 0;
  virtual std::int64_t unknown() const = 0;
};

// Opens the tokenizer of a model folder in Hugging Face's format. Reads the first of these files
// that exists: tokenizer.json (WordPiece or Unigram), sentencepiece.bpe.model, spm.model, vocab.txt
// (WordPiece). For vocab.txt, tokenizer_config.json may state whether text is lower-cased. Throws
// Error if the folder has none of these files. Throws Error that names the file if it is damaged or
// of an unknown kind.
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& folder);

// Learns a WordPiece vocabulary of at most `size` pieces from texts. Returns the lines of
// vocab.txt. The same texts give the same vocabulary. Throws Error if the texts have no word, or if
// `size` is below 7.
std::vector<std::string> learn_word_pieces(const std::vector<std::string>& texts, std::size_t size,
                                           bool lower_case);

}  // namespace lockstep::dimabsa
