// Reads the lists of tuples in lines, under the keys of each task.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "recipes/dimabsa/sentences/files/json_line.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// The key of the task's tuples: "Aspect_VA", "Triplet", "Quadruplet".
const char* output_key(Task task);

// The tuples of a line with labels (ReadOptions::labelled). Phrases stay as they are written. Throw
// Error.
std::vector<Tuple> labelled_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// The tuples of a prediction, from the task's own key only.
std::vector<Tuple> predicted_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// The tuples of task 1: each distinct aspect in "Aspect" or, without that key, in the labels.
std::vector<Tuple> given_aspects(const nlohmann::json& line, const LinePlace& place);

}  // namespace lockstep::dimabsa
