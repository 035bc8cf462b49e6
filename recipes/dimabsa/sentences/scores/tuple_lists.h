// Reads the tuples in the lines of jsonl files. The task determines the key of the list of tuples.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "recipes/dimabsa/sentences/files/json_line.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Returns the key of a task: "Aspect_VA", "Triplet" or "Quadruplet".
const char* output_key(Task task);

// Returns the tuples of a line with labels. files/reader.h lists the keys from which they are read.
// Phrases stay as they are written. Throws Error if the list is missing or has the wrong form.
std::vector<Tuple> labelled_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// Returns the tuples of a prediction, from output_key(task). Throws Error if the list is missing or
// has the wrong form.
std::vector<Tuple> predicted_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// Returns the tuples of an input line of task 1. They are the distinct aspects under the key
// "Aspect", without valence and arousal. If there is no such key, the aspects are taken from the
// labels. Throws Error if the line has neither, or if the list has the wrong form.
std::vector<Tuple> given_aspects(const nlohmann::json& line, const LinePlace& place);

}  // namespace lockstep::dimabsa
