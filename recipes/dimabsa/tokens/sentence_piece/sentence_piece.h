// Pieces of a sentencepiece model, with the ids that XLM-R or DeBERTa-v3 give them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/added_tokens.h"
#include "recipes/dimabsa/tokens/normalizers.h"
#include "recipes/dimabsa/tokens/tokenizer.h"
#include "recipes/dimabsa/tokens/words.h"

namespace lockstep::dimabsa {

// xlm_roberta: <s>, <pad>, </s>, <unk> are 0 to 3, other pieces one more than in the model, <mask>
// comes last. of_model: the model's own ids.
enum class SentencePieceIds { xlm_roberta, of_model };

struct SentencePieceSettings {
  std::string model;  // the file's bytes
  SentencePieceIds ids = SentencePieceIds::xlm_roberta;
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]";  // of_model: pieces with these names
  std::string mask = "[MASK]";                              // of_model: behind the pieces if absent
  std::vector<AddedToken> added;                            // besides those special tokens
  // The normalizer of tokenizer.json, which comes before its model. The model then has no rules of
  // its own. Empty: the model's rules.
  Normalizer normalizer{};
  WordRules words{};
  std::string where;  // the file, for errors
};

// Places are those of the library. They cover all characters that became a piece's, without white
// characters next to them. A piece that is only the mark of a space has the place of the character
// behind it. Throws Error if the file is no such model.
std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings);

}  // namespace lockstep::dimabsa
