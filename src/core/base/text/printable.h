// Makes text from users, files or programs (a name, a value, a log) safe to display on a terminal
// or a web page.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Escapes characters that would control a terminal, break a line or change the direction of
// writing. Newline, tab and carriage return become \n, \t and \r. Other ASCII control characters,
// and bytes that are not UTF-8, become escapes such as \x1b. C1 controls, line and paragraph
// separators and direction marks become escapes such as \u202e. Characters in `kept` (ASCII) are
// not escaped. Takes linear time. The result does not change if it is passed through this function
// again.
std::string printable(std::string text, std::string_view kept = "");

// The same for the output of a program: newlines, tabs and colours ("ESC [ digits m") are kept. If
// the text has colours, the result ends with the sequence that resets them.
std::string printable_log(std::string_view text);

// The same for JSON text. The result is JSON with the same meaning.
std::string printable_json(std::string_view json);

// Returns the number of ASCII characters in the escape of a character; 0 if it is not escaped.
int escape_length(char32_t character);

}  // namespace lockstep
