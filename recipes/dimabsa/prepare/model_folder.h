// The folder that defines the tokenizer and the encoder's shape. The user names it, or it is a
// folder of the cache with a learned vocabulary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planning/recipe_info.h"
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

using Say = std::function<void(const std::string&)>;

// The names of config.json and of the tokenizer's files, as far as they exist.
std::vector<std::string> model_files(const std::filesystem::path& folder);
// A hash of their names and contents.
std::string hash_of_files(const std::filesystem::path& folder,
                          const std::vector<std::string>& names);

// A folder of the cache with a WordPiece vocabulary, learned from the texts, and config.json of the
// small BERT.
std::filesystem::path learned_folder(const DimabsaOptions& options,
                                     const std::vector<std::string>& texts,
                                     const std::filesystem::path& cache, const Say& say);

// Whether a folder has a file that find_weights could take.
bool holds_weights(const std::filesystem::path& folder);

// The weights of model.path, as Prepared::extra holds them. Throws Error if the vocabulary has more
// pieces than the weights have word embeddings, or over 1,024 fewer. If it has slightly fewer,
// `say` warns. hashed: whether to hash the weights, which reads them whole.
nlohmann::json find_weights(const std::filesystem::path& folder, std::int64_t vocabulary,
                            const EncoderShape& shape, bool hashed, const Say& say);

}  // namespace lockstep::dimabsa
