// Cuts text into the pieces of a sentencepiece model, with the ids that XLM-R or DeBERTa-v3 gives
// to pieces.
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

// xlm_roberta: <s>, <pad>, </s> and <unk> are 0 to 3. Other pieces have the model's id plus one.
// <mask> has the last id. of_model: the ids are those of the model.
enum class SentencePieceIds { xlm_roberta, of_model };

struct SentencePieceSettings {
  std::string model;  // the content of the model's file
  SentencePieceIds ids = SentencePieceIds::xlm_roberta;
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]";  // only for of_model
  // of_model: a piece with this name; if there is none, its id is the number of pieces
  std::string mask = "[MASK]";
  std::vector<AddedToken> added;  // other added tokens
  // The normalizer of tokenizer.json, which is applied before the model. The model then has no
  // rules of its own. If it is empty, the model's rules apply.
  Normalizer normalizer{};
  WordRules words{};
  std::string where;  // the file, for messages
};

// The places of pieces in the text are those that the library reports. These places cover all
// characters that became part of a piece, without whitespace next to them. A piece that is only the
// mark of a space has the place of the next character. Throws Error if the file is not such a
// model.
std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings);

}  // namespace lockstep::dimabsa
