// The key by which the scorer compares the tuples of a sentence.
#pragma once

#include <compare>
#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// All members are lower-cased. Members that the task does not compare are empty.
struct TupleKey {
  std::string aspect, opinion, category;
  friend auto operator<=>(const TupleKey&, const TupleKey&) = default;
};

// The key has the aspect in task 1, aspect and opinion in task 2, and also the category in task 3.
TupleKey key_of(Task task, const Tuple& tuple);
bool is_null(const std::string& phrase);  // whether it is "NULL", "null" and so on

}  // namespace lockstep::dimabsa
