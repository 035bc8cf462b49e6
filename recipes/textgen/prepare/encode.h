// Encodes a corpus into token files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "recipes/textgen/prepare/corpus.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

struct Encoded {
  std::int64_t train_tokens = 0, valid_tokens = 0;
  // The number of bytes of the validation targets. The targets are all validation tokens except the
  // first one.
  std::int64_t valid_bytes = 0;
  std::string train_hash, valid_hash;  // XXH3-128 of the tokens
  double pair_bits_per_byte = 0;       // of a baseline on the validation text (pair_table.h)
};

// Writes train.tok and valid.tok into `folder`. If the tokenizer has a separator, this token is
// written between documents. Uses several threads. The result does not depend on the number of
// threads. Throws Error if a text cannot be read or encoded, or if a file cannot be written.
Encoded encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const TextOptions& options,
                      const std::filesystem::path& folder, const Say& say);

}  // namespace lockstep::textgen
