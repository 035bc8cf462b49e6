// The normalizers of tokenizer.json: what a text becomes before it is cut into words.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// Safe to use from several threads at once.
using Normalizer = std::function<Characters(Characters)>;

// "normalizer" of tokenizer.json; null changes nothing. Sequence, BertNormalizer, NFC, NFD, NFKC,
// NFKD, Lowercase, StripAccents, Strip, Prepend, Replace (of a text, or of runs of blanks) and
// Precompiled (sentencepiece's table) do what those of `tokenizers` 0.22 and 0.23 do. Throws Error
// that names another kind. file: for errors.
Normalizer read_normalizer(const nlohmann::json& normalizer, const std::string& file);

// Canonical or compatibility decomposition, marks in Unicode's order; then composed again.
Characters decomposed_text(const Characters& text, bool compatibility);
Characters composed_text(const Characters& text);

}  // namespace lockstep::dimabsa
