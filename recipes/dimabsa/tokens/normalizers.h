// The normalizers of tokenizer.json. They change a text before it is cut into words.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// Safe to use from several threads at once.
using Normalizer = std::function<Characters(Characters)>;

// Reads "normalizer" of tokenizer.json; null changes nothing. Sequence, BertNormalizer, NFC, NFD,
// NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace (of a text, or of runs of blanks)
// and Precompiled (sentencepiece's table) work as in `tokenizers` 0.22 and 0.23. Throws Error that
// names any other kind. file: for errors.
Normalizer read_normalizer(const nlohmann::json& normalizer, const std::string& file);

// decomposed_text: canonical or compatibility decomposition, with marks in Unicode's order.
// composed_text composes such a text again.
Characters decomposed_text(const Characters& text, bool compatibility);
Characters composed_text(const Characters& text);

}  // namespace lockstep::dimabsa
