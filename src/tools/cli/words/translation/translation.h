// Translates all names of other programs on a command line into options and flags that the command
// accepts together.
#pragma once

#include "tools/cli/words/translation/translated_names.h"

namespace lockstep::cli {

// Translates the devices first, because their number decides the size of the global batch.
Translation translated(const Vocabulary& known, const TypedLine& line);

const OurWord* devices_word(const std::vector<OurWord>& words);

}  // namespace lockstep::cli
