// Cuts text into word pieces, as the tokenizer of a BERT or XLM-R folder does. Without LibTorch.
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

// Safe to use from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // The pieces of any UTF-8 text, without special tokens around it. Bytes that are not UTF-8 count
  // as U+FFFD. "[SEP]" in the text becomes that token, as in BertTokenizerFast; "[sep]" is a word.
  // Pieces are in the order of the text, on borders of its characters, and never empty. If one
  // character gives several pieces, each has its bytes. A mark at the end of a word (U+0301) may be
  // in no piece.
  virtual std::vector<Piece> encode(std::string_view text) const = 0;
  virtual std::int64_t vocabulary() const = 0;  // every id is below it
  // BERT's [CLS], [SEP], [PAD], [UNK], or XLM-R's <s>, </s>, <pad>, <unk>.
  virtual std::int64_t cls() const = 0;
  virtual std::int64_t sep() const = 0;
  virtual std::int64_t pad() const = 0;
  virtual std::int64_t unknown() const = 0;
};

// Opens the tokenizer of a folder as Hugging Face writes it. The first of these that exists is
// read: tokenizer.json (WordPiece or Unigram), sentencepiece.bpe.model or spm.model, vocab.txt
// (WordPiece). For vocab.txt, tokenizer_config.json says whether text is lower-cased. Throws Error
// that names the file.
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& folder);

// Learns a WordPiece vocabulary of at most `size` entries, the lines of a vocab.txt. The same texts
// give the same vocabulary. Throws Error if there is no text.
std::vector<std::string> learn_word_pieces(const std::vector<std::string>& texts, std::size_t size,
                                           bool lower_case);

}  // namespace lockstep::dimabsa
