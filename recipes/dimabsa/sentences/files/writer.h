// Writes predictions as the shared task takes them: jsonl, and submission.zip.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Leaves out each tuple with the same aspect, opinion and category as an earlier one, ignoring
// case. The scorer would give neither any credit. Tasks 1 and 2 do not compare the category, and
// task 1 not the opinion.
std::vector<Tuple> without_duplicates(Task task, const std::vector<Tuple>& tuples);

// One line without its newline: ID, and the tuples under Aspect_VA, Triplet or Quadruplet, without
// duplicates. VA is clamped to 1 to 9 and rounded to two decimals; a tuple without VA gets
// "5.00#5.00". Phrases should be UTF-8; invalid bytes become U+FFFD.
std::string prediction_line(Task task, const Sentence& sentence);
// The lines of all sentences, each with a newline.
std::string prediction_lines(Task task, const std::vector<Sentence>& sentences);

// Writes DIR/subtask_N/pred_LANG_DOMAIN.jsonl durably, and returns its path. Throws Error.
std::filesystem::path write_predictions(const std::filesystem::path& folder, Task task,
                                        const std::string& language, const std::string& domain,
                                        const std::vector<Sentence>& sentences);

// Writes an archive of files under these names (prediction_name), completely or not at all. Throws
// Error.
void write_submission(const std::filesystem::path& zip,
                      const std::vector<std::pair<std::string, std::filesystem::path>>& files);

}  // namespace lockstep::dimabsa
