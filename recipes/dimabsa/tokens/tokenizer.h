// Text to word pieces, as the tokenizer of a BERT or XLM-R folder makes them. Without LibTorch.
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
  bool begins_word = false;          // no piece of the same word before it
};

// Safe to use from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // The pieces of any UTF-8 text, without special tokens around it. Bytes that are no UTF-8 count
  // as U+FFFD. "[SEP]" written in the text is that token, as of BertTokenizerFast; "[sep]" is a
  // word. Pieces are in the order of the text, on the borders of its characters and never empty;
  // those of one character share its bytes. A mark at the end of a word (U+0301) may be in no
  // piece.
  virtual std::vector<Piece> encode(std::string_view text) const = 0;
  virtual std::int64_t vocabulary() const = 0;  // ids are below it
  // BERT's [CLS], [SEP], [PAD], [UNK]; <s>, </s>, <pad>, <unk> of XLM-R.
  virtual std::int64_t cls() const = 0;
  virtual std::int64_t sep() const = 0;
  virtual std::int64_t pad() const = 0;
  virtual std::int64_t unknown() const = 0;
};

// The tokenizer of a folder as Hugging Face writes it. It reads tokenizer.json (WordPiece or
// Unigram), whatever else lies beside it; without it sentencepiece.bpe.model or spm.model; else
// vocab.txt (WordPiece, cased or not by tokenizer_config.json). Throws Error that names the file.
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& folder);

// A WordPiece vocabulary of at most `size` entries, the lines of a vocab.txt, learned from texts.
// The same for the same texts. Throws Error if there is no text.
std::vector<std::string> learn_word_pieces(const std::vector<std::string>& texts, std::size_t size,
                                           bool lower_case);

}  // namespace lockstep::dimabsa
