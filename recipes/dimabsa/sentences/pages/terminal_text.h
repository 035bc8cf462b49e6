// A sentence on a terminal, with its tuples marked.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Lines, each with a newline: the text, then a line per tuple. Without colour, phrases are in
// brackets with the numbers of their tuples: aspects in square brackets, opinions in curly ones.
//   The [soup]1 was {great}1, but we waited an hour for the [waiter]2.
//     1  soup · great  FOOD#QUALITY  valence 7.80  arousal 6.80
//     2  waiter · NULL  SERVICE#GENERAL  valence 2.60  arousal 6.40
// With colour (only for a terminal), aspects are cyan and opinions yellow, without brackets.
// Control characters are removed, also those that change the direction of writing.
std::string terminal_text(Task task, const Sentence& sentence, bool colour);

}  // namespace lockstep::dimabsa
