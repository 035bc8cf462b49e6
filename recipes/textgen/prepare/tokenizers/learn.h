// Makes the tokenizer that the options request, learned from the training text if necessary.
#pragma once

#include <memory>

#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/prepare/corpus.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

// The same corpus gives the same tokenizer. Throws Error.
std::unique_ptr<Tokenizer> make_tokenizer(const TextOptions& options, const Corpus& corpus,
                                          const Say& say);

// The tokenizer that tokenizer.path names, for the kinds gpt2 and bpe. Throws Error.
std::unique_ptr<Tokenizer> named_tokenizer(const TextOptions& options);

// Text that identifies the tokenizer before the corpus is read: kind, size, contents of its files.
std::string tokenizer_identity(const TextOptions& options);

// Where a text may be cut so that encoding the parts gives the tokens of the whole.
Cut cut_for(const Tokenizer& tokenizer);

}  // namespace lockstep::textgen
