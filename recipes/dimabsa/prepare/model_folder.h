// The model folder, which defines the tokenizer and the shape of the encoder. The user names it, or
// it is a folder of the cache with a learned vocabulary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planning/recipe_info.h"
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

using Say = std::function<void(const std::string&)>;

// Returns the names of config.json and of the tokenizer's files, if they exist.
std::vector<std::string> model_files(const std::filesystem::path& folder);
// Returns a hash of the names and contents of these files.
std::string hash_of_files(const std::filesystem::path& folder,
                          const std::vector<std::string>& names);

// Returns a folder of the cache with a WordPiece vocabulary that is learned from the texts, and the
// config.json of the small BERT. Creates the folder if it is absent.
std::filesystem::path learned_folder(const DimabsaOptions& options,
                                     const std::vector<std::string>& texts,
                                     const std::filesystem::path& cache, const Say& say);

// Whether a folder has a file with weights, judged by the names of its files.
bool holds_weights(const std::filesystem::path& folder);

// Returns a JSON description of the weights in a folder, for Prepared::extra. vocabulary: the
// pieces of the tokenizer. Throws Error if that is more than the weights have word embeddings, or
// over 1,024 fewer. If it is up to 1,024 fewer, calls `say` with a warning. Also throws Error if
// the word embeddings do not match config.json. hashed: whether to hash the weights, which reads
// the whole files.
nlohmann::json find_weights(const std::filesystem::path& folder, std::int64_t vocabulary,
                            const EncoderShape& shape, bool hashed, const Say& say);

}  // namespace lockstep::dimabsa
