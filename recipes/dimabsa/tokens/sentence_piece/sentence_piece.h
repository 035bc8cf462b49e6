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

// xlm_roberta: <s>, <pad>, </s> and <unk> have the ids 0 to 3. Other pieces have their id in the
// sentencepiece model plus one. <mask> has the last id. of_model: all ids are those of the
// sentencepiece model.
enum class SentencePieceIds { xlm_roberta, of_model };

struct SentencePieceSettings {
  std::string model;  // the content of the model's file
  SentencePieceIds ids = SentencePieceIds::xlm_roberta;
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]";  // only for of_model
  // Only for of_model: the name of the mask token. Its id is that of the piece with this name, or
  // the number of pieces if the model has no such piece.
  std::string mask = "[MASK]";
  std::vector<AddedToken> added;  // added tokens, in addition to the tokens above
  // The normalizer of tokenizer.json, which is applied before the model. If it is set, the model
  // must have no normalization rules of its own. If it is empty, the rules of the model apply.
  Normalizer normalizer{};
  WordRules words{};
  std::string where;  // the file, for messages
};

// The byte range of a piece in the text is derived from the range that the library sentencepiece
// reports. It covers all characters that became part of the piece, without whitespace at its ends.
// A piece that is only "▁", which stands for a space, gets the range of the next character. At the
// end of a section, it gets the range of the character before. Throws Error if settings.model is
// not a sentencepiece model, or lacks a special token.
std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings);

}  // namespace lockstep::dimabsa
