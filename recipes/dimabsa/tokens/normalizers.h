// The normalizers of tokenizer.json, which change a text before it is cut into words.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/characters.h"

namespace lockstep::dimabsa {

// Several threads may call a normalizer at once.
using Normalizer = std::function<Characters(Characters)>;

// Reads the value of the key "normalizer" of tokenizer.json. If it is null, the result leaves texts
// as they are. The following kinds work as in `tokenizers` 0.22 and 0.23: Sequence, BertNormalizer,
// NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend, Replace and Precompiled. Replace
// may search for a text, or for runs of whitespace by one of a few regular expressions. Precompiled
// applies the replacements of a sentencepiece model. Throws Error, which names the kind or the
// expression, for all others. file: the file's name, for messages.
Normalizer read_normalizer(const nlohmann::json& normalizer, const std::string& file);

// decomposed_text returns the text in NFD, or in NFKD if `compatibility` is true. composed_text
// composes the result of decomposed_text, and so returns the text in NFC or NFKC.
Characters decomposed_text(const Characters& text, bool compatibility);
Characters composed_text(const Characters& text);

}  // namespace lockstep::dimabsa
