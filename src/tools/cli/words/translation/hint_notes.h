// Further advice after the words of a translation.
#pragma once

#include "tools/cli/words/translation/translated_names.h"

#include <string>

namespace lockstep::cli {

// A note if a value is for all devices: for which devices, and the value for a program that used
// one device.
std::string batch_note(const Vocabulary& known, const TypedLine& line, const Translation& all);

// Further advice about a name. Nothing if the name only turns something off.
std::string note_of(const Vocabulary& known, const FlagsHere& flags, const Translation& all,
                    const std::string& key, const std::string& value);

// Remarks after the translated words.
Words remarks_of(const Vocabulary& known, const TypedLine& line, const Translation& all,
                 const TypedName& asked);

}  // namespace lockstep::cli
