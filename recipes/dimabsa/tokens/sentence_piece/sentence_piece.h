// Cuts text into pieces of a sentencepiece model, with the ids of XLM-R or DeBERTa-v3.
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

// xlm_roberta: <s>, <pad>, </s>, <unk> are 0 to 3; other pieces have the model's id plus one;
// <mask> comes last. of_model: the model's own ids.
enum class SentencePieceIds { xlm_roberta, of_model };

struct SentencePieceSettings {
  std::string model;  // the content of the model's file
  SentencePieceIds ids = SentencePieceIds::xlm_roberta;
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]";  // of_model: pieces with these names
  // of_model: if the model lacks it, its id follows those of the pieces
  std::string mask = "[MASK]";
  std::vector<AddedToken> added;  // in addition to these special tokens
  // The normalizer of tokenizer.json, which is applied before the model. The model then has no
  // rules of its own. Empty: the model's rules apply.
  Normalizer normalizer{};
  WordRules words{};
  std::string where;  // the file, for errors
};

// Places of pieces are those of the library. They cover all characters that became part of a piece,
// without white characters next to them. A piece that is only the mark of a space has the place of
// the next character. Throws Error if the file is not such a model.
std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings);

}  // namespace lockstep::dimabsa
