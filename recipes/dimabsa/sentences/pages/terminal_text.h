// Formats a sentence for a terminal, with its phrases marked.
#pragma once

#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Returns the text as a line, then a line for each tuple. Each line ends with a newline. Without
// colour, aspects are in square brackets, and opinions in curly brackets. After each closing
// bracket come the numbers of the tuples.
//   The [soup]1 was {great}1, but we waited an hour for the [waiter]2.
//     1  soup · great  FOOD#QUALITY  valence 7.80  arousal 6.80
//     2  waiter · NULL  SERVICE#GENERAL  valence 2.60  arousal 6.40
// With colour, aspects are cyan and opinions are yellow, and there are no brackets. Control
// characters are removed, including those that change the direction of writing.
std::string terminal_text(Task task, const Sentence& sentence, bool colour);

}  // namespace lockstep::dimabsa
