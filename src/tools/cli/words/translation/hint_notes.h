// Makes the advice that follows the words of a translation.
#pragma once

#include "tools/cli/words/translation/translated_names.h"

#include <string>

namespace lockstep::cli {

// Returns a note if batch.global was computed from the number of devices, else "". The note says
// for how many devices the value is. It also gives the value for a script that used one device.
std::string batch_note(const Vocabulary& known, const TypedLine& line, const Translation& all);

// Returns advice about a name, or "". key, value: the name and the value as typed.
std::string note_of(const Vocabulary& known, const FlagsHere& flags, const Translation& all,
                    const std::string& key, const std::string& value);

// Returns all remarks that follow the translated words. asked: the name that the error message is
// about.
Words remarks_of(const Vocabulary& known, const TypedLine& line, const Translation& all,
                 const TypedName& asked);

}  // namespace lockstep::cli
