// The words of ours for a whole line, which the command accepts together.
#pragma once

#include "tools/cli/words/translation/translated_names.h"

namespace lockstep::cli {

// Devices come first: their number decides what all of them take in a step.
Translation translated(const Vocabulary& known, const TypedLine& line);

const OurWord* devices_word(const std::vector<OurWord>& words);

}  // namespace lockstep::cli
