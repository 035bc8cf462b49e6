// The key by which the scorer identifies tuples of a sentence.
#pragma once

#include <compare>
#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Lower-cased. Parts that the task does not compare are empty.
struct TupleKey {
  std::string aspect, opinion, category;
  friend auto operator<=>(const TupleKey&, const TupleKey&) = default;
};

// (aspect) in task 1, (aspect, opinion) in task 2, (aspect, opinion, category) in task 3.
TupleKey key_of(Task task, const Tuple& tuple);
bool is_null(const std::string& phrase);  // "NULL", without regard to case

}  // namespace lockstep::dimabsa
