// Predictions as the shared task takes them: jsonl, and submission.zip.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Leaves out each tuple with the same aspect, opinion and category as an earlier one, without
// regard to case: the scorer gives nothing for both. The category does not count in tasks 1 and 2,
// nor the opinion in task 1.
std::vector<Tuple> without_duplicates(Task task, const std::vector<Tuple>& tuples);

// One line without its newline: ID, and the tuples under Aspect_VA, Triplet or Quadruplet, without
// duplicates. VA is clamped to 1 to 9 and rounded to two decimals; "5.00#5.00" if there is none.
// Phrases must be valid UTF-8; other bytes become U+FFFD.
std::string prediction_line(Task task, const Sentence& sentence);
// All of them, a newline behind each.
std::string prediction_lines(Task task, const std::vector<Sentence>& sentences);

// DIR/subtask_N/pred_LANG_DOMAIN.jsonl, durably; returns its path. Throws Error.
std::filesystem::path write_predictions(const std::filesystem::path& folder, Task task,
                                        const std::string& language, const std::string& domain,
                                        const std::vector<Sentence>& sentences);

// An archive of files under these names (prediction_name), whole or not at all. Throws Error.
void write_submission(const std::filesystem::path& zip,
                      const std::vector<std::pair<std::string, std::filesystem::path>>& files);

}  // namespace lockstep::dimabsa
