// The lists of tuples that lines hold, under their keys for each task.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "recipes/dimabsa/sentences/files/json_line.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// "Aspect_VA", "Triplet", "Quadruplet".
const char* output_key(Task task);

// As ReadOptions::labelled says, phrases as they are written. Throw Error.
std::vector<Tuple> labelled_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// The tuples of a prediction: the task's own key alone.
std::vector<Tuple> predicted_tuples(const nlohmann::json& line, Task task, const LinePlace& place);
// The tuples of task 1: each different aspect that "Aspect" names, or else the labels.
std::vector<Tuple> given_aspects(const nlohmann::json& line, const LinePlace& place);

}  // namespace lockstep::dimabsa
