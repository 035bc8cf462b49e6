// Text from outside (a name, a value, a log) as people may see it, on a terminal or a page.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// What would steer a terminal, break a line or turn the direction of writing stands there as an
// escape: a newline, a tab and a carriage return as \n, \t and \r; other control characters of
// ASCII, and each byte that is no UTF-8, as \x1b; C1 controls, separators of lines and paragraphs
// and marks of direction as \u202e. Characters of `kept` (of ASCII) stay. Linear in its length; a
// text that has gone through it once stays as it is.
std::string printable(std::string text, std::string_view kept = "");

// The same of what a program printed, in lines: newlines, tabs and colours stay ("ESC [ digits m";
// where there are any, it ends with the one that resets them).
std::string printable_log(std::string_view text);

// Text of JSON that shows nothing of the kind either, and means the same.
std::string printable_json(std::string_view json);

// How many characters of ASCII stand for this one; 0: it stands for itself.
int escape_length(char32_t character);

}  // namespace lockstep
