// Lockstep's words for a whole line, which the command accepts together.
#pragma once

#include "tools/cli/words/translation/translated_names.h"

namespace lockstep::cli {

// Translates the devices first, since their number decides the size of the global batch.
Translation translated(const Vocabulary& known, const TypedLine& line);

const OurWord* devices_word(const std::vector<OurWord>& words);

}  // namespace lockstep::cli
