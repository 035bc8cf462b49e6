// Messages to people, on standard error. This is the only way to print one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep {

// Prints one or more lines at once, as `printable` with newlines and tabs kept.
void say(const std::string& line);
// Prints "error: WHAT" and, if there is a hint, a blank line and "hint: HINT". Lines within them
// that look like the start of a message are indented.
void say_error(const std::string& what, const std::string& hint = {});

// During its lifetime, all printed messages also go to `take`: whole lines, printable, from one
// thread at a time. A newer transcript replaces it until the newer one is destroyed.
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
// Adds lines that were shown in another way, such as a progress line. They are printable, each with
// its newline. Has no effect without a transcript.
void add_to_transcript(std::string_view lines);

// Redraws on a terminal: prints control sequences unchanged, then the text as in `say`, but without
// a newline at its end.
void draw_on_terminal(std::string_view sequences, std::string_view text);

}  // namespace lockstep
