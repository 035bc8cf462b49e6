// The sentences that are trained and validated on.
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
  std::vector<std::string> categories;  // of task 3
  std::vector<std::string> warnings;
};

// Reads, or makes, and splits. categories: of an existing run; empty: as the options say. Throws
// Error.
LoadedSentences load_sentences(const DimabsaOptions& options,
                               const std::vector<std::string>& categories);
// All sentences of a file, to evaluate: phrases stay as they are written. A tuple of a category
// that is kept without being in the list is missed.
LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories, NotInList not_in_list);

// Which of `count` sentences are validated on: a share of them, the same for the same seed. With a
// share above 0, at least one of two or more is, and not all are.
std::vector<bool> choose_valid(std::size_t count, double share, std::int64_t seed);

// Hashes of the contents of the options' files, for the record of a run: {"path", "valid_path"}.
// Throws Error if one cannot be read.
nlohmann::json hashes_of(const DimabsaOptions& options);
// The same, but a file that is not there counts as "missing", which equals no hash.
nlohmann::json hashes_of_those_there(const DimabsaOptions& options);

}  // namespace lockstep::dimabsa
