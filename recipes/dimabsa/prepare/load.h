// The sentences for training and validation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipes/dimabsa/options/dimabsa_options.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct LoadedSentences {
  std::vector<Sentence> train, valid;
  std::vector<std::string> categories;  // only in task 3
  std::vector<std::string> warnings;
};

// Reads or generates the sentences, and splits them. categories: those of an existing run; empty:
// as the options say. Throws Error.
LoadedSentences load_sentences(const DimabsaOptions& options,
                               const std::vector<std::string>& categories);
// All sentences of a file, for evaluation. Phrases stay as they are written. A tuple whose category
// is not in the list, but is kept (`not_in_list`), counts as missed.
LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories, NotInList not_in_list);

// Chooses validation sentences among `count`: a share of them, the same for the same seed. With a
// share above 0 and two or more sentences, at least one is chosen, and at least one is not.
std::vector<bool> choose_valid(std::size_t count, double share, std::int64_t seed);

// Hashes of the contents of the files that the options name, for the record of a run: {"path",
// "valid_path"}. Throws Error if a file cannot be read.
nlohmann::json hashes_of(const DimabsaOptions& options);
// The same, but the hash of an absent file is "missing", which equals no hash.
nlohmann::json hashes_of_those_there(const DimabsaOptions& options);

}  // namespace lockstep::dimabsa
