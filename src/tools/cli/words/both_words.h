// Makes one word for two names on a line that mean the same setting.
#pragma once

#include "core/config/synonym.h"

#include <cstddef>
#include <string>

namespace lockstep::cli {

// Stands for a factor that was not typed.
inline constexpr const char* unknown_factor = "FACTOR";

// Whether the value is a placeholder that the program itself inserted: VALUE, DIR, 16xDEVICES.
bool is_placeholder(const std::string& value);

// The number of indexes in "0,1,2"; 0 if it is not such a list.
std::size_t indexes_in(const std::string& list);

// Whether the path of a file begins with that of the folder.
bool is_below(const std::string& folder, const std::string& file);

struct BothWords {
  OurWord word;
  bool contradict = false;  // the two cannot both be meant
};

// Combines two words of one name. If they contradict each other, the later one counts, but a file
// takes precedence over a folder.
BothWords word_of_both(const OurWord& one, const OurWord& other);

}  // namespace lockstep::cli
