// What a program says to people, on standard error: there is no other way to say something.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep {

// A line, or several, as `printable` with newlines and tabs kept, at once.
void say(const std::string& line);
// error: WHAT, and if there is a hint, a blank line and hint: HINT. Lines within them that begin as
// a message does are indented.
void say_error(const std::string& what, const std::string& hint = {});

// While it lives, all that is said goes to `take` too: whole lines, printable, from one thread at a
// time. One at a time; a second one takes the place of the first until it goes.
class Transcript {
 public:
  using Take = std::function<void(std::string_view lines)>;
  explicit Transcript(Take take);
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

 private:
  Take before_;
};
// Lines that people were shown in another way, such as a line that was drawn anew; printable, each
// with its newline. Nothing where nobody keeps a transcript.
void add_to_transcript(std::string_view lines);

// What is drawn anew on a terminal: sequences of our own that steer it, then the text as above
// without a newline.
void draw_on_terminal(std::string_view sequences, std::string_view text);

}  // namespace lockstep
