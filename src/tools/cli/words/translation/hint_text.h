// Makes the hint for a name of another program: the translation of the whole line, and advice.
#pragma once

#include "tools/cli/words/translation/typed_line.h"
#include "tools/cli/words/vocabulary.h"

#include <string>

namespace lockstep::cli {

std::string as_typed(const OurWord& word);

std::string foreign_hint(const Vocabulary& known, const TypedLine& line, const TypedName& asked);

}  // namespace lockstep::cli
