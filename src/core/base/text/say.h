// Prints messages on standard error. All code that prints messages uses these functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep {

// Prints a message of one or more lines, and a newline. `printable` is applied, except to newlines
// and tabs.
void say(const std::string& line);
// Prints "error: WHAT" and, if there is a hint, a blank line and "hint: HINT". If a further line of
// the texts begins like a message ("error:"), it is indented.
void say_error(const std::string& what, const std::string& hint = {});

// During the lifetime of this object, all printed messages are also passed to `take`, as whole
// printable lines. `take` is called by one thread at a time. While a newer Transcript exists,
// messages are passed only to that one.
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
// Passes lines that were displayed in another way, such as a progress line, to the Transcript. They
// must be printable, each with its newline. Does nothing if there is no Transcript.
void add_to_transcript(std::string_view lines);

// Rewrites a part of a terminal. Prints the control sequences unchanged, and then the text as `say`
// does, but without a newline at its end and not into the Transcript.
void draw_on_terminal(std::string_view sequences, std::string_view text);

}  // namespace lockstep
