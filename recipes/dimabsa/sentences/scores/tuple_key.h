// The key by which two tuples of a sentence are the same one for the scorer.
#pragma once

#include <compare>
#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Lower-cased; what does not count in the task is empty.
struct TupleKey {
  std::string aspect, opinion, category;
  friend auto operator<=>(const TupleKey&, const TupleKey&) = default;
};

// (aspect) in task 1, (aspect, opinion) in task 2, (aspect, opinion, category) in task 3.
TupleKey key_of(Task task, const Tuple& tuple);
bool is_null(const std::string& phrase);  // "NULL", without regard to case

}  // namespace lockstep::dimabsa
