#include "base/say.h"

#include <iostream>

#include "base/printable.h"
#include "base/text.h"

namespace lockstep {
namespace {

constexpr std::string_view layout = "\n\t";

}  // namespace

// In one piece, so that whoever reads it wakes up once.
void say(const std::string& line) { std::cerr << printable(line, layout) + '\n' << std::flush; }

void say_error(const std::string& what, const std::string& hint) {
  say(cat("error: ", what, hint.empty() ? "" : "\n\nhint: " + hint));
}

void draw_on_terminal(std::string_view sequences, std::string_view text) {
  std::cerr << cat(sequences, printable(std::string(text), layout)) << std::flush;
}

}  // namespace lockstep
