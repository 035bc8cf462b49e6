// What a program says to people, on standard error: there is no other way to say something.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// A line, or several, as `printable` with newlines and tabs kept, at once.
void say(const std::string& line);
// error: WHAT, and if there is a hint, a blank line and hint: HINT. Lines within them that begin as
// a message does are indented.
void say_error(const std::string& what, const std::string& hint = {});

// What is drawn anew on a terminal: sequences of our own that steer it, then the text as above
// without a newline.
void draw_on_terminal(std::string_view sequences, std::string_view text);

}  // namespace lockstep
