#include "core/base/text/say.h"

#include <iostream>
#include <mutex>
#include <utility>

#include "core/base/text/printable.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::string_view layout = "\n\t";

// Indents further lines that look like a message or a hint, because a name may contain newlines.
std::string as_part(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i)
    for (const std::string_view word : {"error:", "hint:", "warning:"})
      if (lines[i].starts_with(word)) lines[i].insert(0, "  ");
  return join(lines, "\n");
}

std::mutex transcript_mutex;
Transcript::Take transcript;  // protected by the mutex; empty if nobody keeps a transcript

}  // namespace

Transcript::Transcript(Take take) {
  const std::lock_guard lock(transcript_mutex);
  before_ = std::exchange(transcript, std::move(take));
}

Transcript::~Transcript() {
  const std::lock_guard lock(transcript_mutex);
  transcript = std::move(before_);
}

void add_to_transcript(std::string_view lines) {
  const std::lock_guard lock(transcript_mutex);
  if (transcript) transcript(lines);
}

// Writes the line in one piece, so that a reader wakes up only once.
void say(const std::string& line) {
  const std::string text = printable(line, layout) + '\n';
  std::cerr << text << std::flush;
  add_to_transcript(text);
}

void say_error(const std::string& what, const std::string& hint) {
  say(cat("error: ", as_part(what), hint.empty() ? "" : "\n\nhint: " + as_part(hint)));
}

void draw_on_terminal(std::string_view sequences, std::string_view text) {
  std::cerr << cat(sequences, printable(std::string(text), layout)) << std::flush;
}

}  // namespace lockstep
