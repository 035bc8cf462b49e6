#include "runtime/launch/ranks/rank_screen.h"

#include <algorithm>
#include <utility>

#include "runtime/launch/output/log_tail.h"

namespace lockstep {
namespace {

constexpr char escape = '\x1b';

// The length of the escape sequence at the start of the text. If it is incomplete, the length of
// the text.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // parameters, then a final letter
    for (std::size_t i = 2; i < text.size(); ++i)
      if (text[i] >= 0x40 && text[i] <= 0x7e) return i + 1;
    return text.size();
  }
  if (text[1] == ']') {  // ends with BEL or ESC backslash
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == escape) return std::min(i + 2, text.size());
    }
    return text.size();
  }
  return 2;
}

std::string prefix(std::size_t rank) { return "[" + std::to_string(rank) + "] "; }

}  // namespace

RankScreen::RankScreen(std::size_t ranks, bool is_terminal, Show show)
    : show_(std::move(show)), is_terminal_(is_terminal) {
  lines_.emplace_back();
  for (std::size_t rank = 1; rank < ranks; ++rank)
    lines_.push_back(std::make_unique<LineSplitter>(
        [this, rank](std::string_view line) { show_line(rank, line); }));
}

void RankScreen::add(std::size_t rank, std::string_view bytes, double now_s) {
  if (rank > 0) return lines_[rank]->add(bytes);
  if (live_.empty()) live_since_s_ = now_s;
  live_.append(bytes);
  const std::size_t end = live_.find_last_of("\r\n");
  if (end != live_.npos) {
    show_live(std::string_view(live_).substr(0, end + 1));
    live_.erase(0, end + 1);
    live_since_s_ = now_s;
  }
  constexpr std::size_t most_bytes = 1 << 16;
  if (live_.size() >= most_bytes) {
    show_live(live_);
    live_.clear();
  }
}

std::optional<double> RankScreen::due_s() const {
  if (!is_terminal_ || live_.empty()) return std::nullopt;
  return live_since_s_ + part_after_s;
}

void RankScreen::on_time(double now_s) {
  const auto due = due_s();
  if (!due || now_s < *due) return;
  show_live(live_);
  live_.clear();
}

void RankScreen::finish(std::size_t rank) {
  if (rank > 0) return lines_[rank]->finish();
  if (!live_.empty()) show_live(live_);
  live_.clear();
  if (is_unfinished_) show_("\n");
  is_unfinished_ = false;
  at_start_ = true;
}

// Shows text on a live terminal. The prefix is printed wherever a line begins, also if it
// overwrites an earlier line.
void RankScreen::show_live(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    std::size_t length = 1;
    if (text[0] == '\n') {
      if (at_start_ && !is_unfinished_) shown += prefix(0);
      at_start_ = true;
      is_unfinished_ = false;
    } else if (text[0] == '\r') {
      at_start_ = true;
    } else if (text[0] == escape) {
      length = escape_length(text);
    } else {
      if (at_start_) shown += prefix(0);
      at_start_ = false;
      is_unfinished_ = true;
      length = std::min(text.find_first_of("\r\n\x1b"), text.size());
    }
    shown.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  show_(shown);
}

void RankScreen::show_line(std::size_t rank, std::string_view line) {
  std::string shown = is_unfinished_ ? "\n" : "";
  is_unfinished_ = false;
  at_start_ = true;
  show_(shown.append(prefix(rank)).append(as_rewritten(line)) += '\n');
}

std::string PlainLines::add(std::string_view bytes) {
  std::string lines;
  for (std::size_t newline; (newline = bytes.find('\n')) != bytes.npos;) {
    rest_.append(bytes.substr(0, newline));
    lines += plain_line(rest_) + '\n';
    rest_.clear();
    bytes.remove_prefix(newline + 1);
  }
  rest_.append(bytes);
  if (rest_.size() >= most_in_a_line) lines += finish();
  return lines;
}

std::string PlainLines::take_part() {
  if (rest_.find_first_of("\r\x1b") != rest_.npos) return {};
  return std::exchange(rest_, {});
}

std::string PlainLines::finish() {
  std::string line = plain_line(rest_);
  rest_.clear();
  return line;
}

std::string plain_line(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t length =
        line[0] == escape ? escape_length(line) : std::min(line.find(escape), line.size());
    if (line[0] != escape) text.append(line.substr(0, length));
    line.remove_prefix(length);
  }
  return std::string(as_rewritten(text));
}

}  // namespace lockstep
