// Combines two words (options or flags with a value) that are translations of two names of the same
// setting.
#pragma once

#include "core/config/synonym.h"

#include <cstddef>
#include <string>

namespace lockstep::cli {

// The placeholder for a factor that was not typed.
inline constexpr const char* unknown_factor = "FACTOR";

// Whether the value is a placeholder that a translation inserted: VALUE, PATH, DIR, FACTOR,
// 16xDEVICES.
bool is_placeholder(const std::string& value);

// Returns the number of indexes in a list such as "0,1,2"; 0 for any other text.
std::size_t indexes_in(const std::string& list);

// Whether the path `file` is below the path `folder`. Only the texts are compared.
bool is_below(const std::string& folder, const std::string& file);

struct BothWords {
  OurWord word;
  bool contradict = false;  // whether the two values contradict each other
};

// Combines two words with the same name. A value takes precedence over `auto` and a placeholder,
// and a file over a folder. If two values contradict each other, the later one is used.
BothWords word_of_both(const OurWord& one, const OurWord& other);

}  // namespace lockstep::cli
