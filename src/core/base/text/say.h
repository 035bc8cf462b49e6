// Prints messages on standard error. No other code prints messages.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep {

// Prints one or more lines at once, in the form of `printable` with newlines and tabs kept.
void say(const std::string& line);
// Prints "error: WHAT" and, if there is a hint, a blank line and "hint: HINT". Lines within the
// texts that look like the start of a message are indented.
void say_error(const std::string& what, const std::string& hint = {});

// During its lifetime, all printed messages also go to `take`, as whole printable lines, from one
// thread at a time. While a newer transcript exists, messages go only to that one.
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
// Adds lines that were displayed in another way, such as a progress line. They must be printable,
// each with its newline. Without a transcript, this does nothing.
void add_to_transcript(std::string_view lines);

// Redraws on a terminal. Prints the control sequences unchanged, and then the text as in `say`, but
// without a newline at its end.
void draw_on_terminal(std::string_view sequences, std::string_view text);

}  // namespace lockstep
