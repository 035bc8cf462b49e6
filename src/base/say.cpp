#include "base/say.h"

#include <iostream>

#include "base/printable.h"
#include "base/text.h"

namespace lockstep {
namespace {

constexpr std::string_view layout = "\n\t";

// A name with a newline in it must not begin a message or a hint of its own.
std::string as_part(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i)
    for (const std::string_view word : {"error:", "hint:", "warning:"})
      if (lines[i].starts_with(word)) lines[i].insert(0, "  ");
  return join(lines, "\n");
}

}  // namespace

// In one piece, so that whoever reads it wakes up once.
void say(const std::string& line) { std::cerr << printable(line, layout) + '\n' << std::flush; }

void say_error(const std::string& what, const std::string& hint) {
  say(cat("error: ", as_part(what), hint.empty() ? "" : "\n\nhint: " + as_part(hint)));
}

void draw_on_terminal(std::string_view sequences, std::string_view text) {
  std::cerr << cat(sequences, printable(std::string(text), layout)) << std::flush;
}

}  // namespace lockstep
