// Finds the sentencepiece file of a model folder, and the model family whose ids its pieces get.
#pragma once

#include <filesystem>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

// The family follows from model_type of config.json. If there is no such key, it follows from
// tokenizer_class of tokenizer_config.json. If that is missing too, it follows from the name of the
// sentencepiece file. Throws Error if the family is neither XLM-R nor DeBERTa-v2.
SentencePieceSettings sentence_piece_settings(const std::filesystem::path& folder);

}  // namespace lockstep::dimabsa
