// Reads the text of a file: plain, compressed, or in a list.
#include "recipes/textgen/prepare/text_source.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {
namespace {

constexpr std::size_t head_bytes = 4096, part_bytes = 64 << 10;

}  // namespace

TextSource::TextSource(const SourceFile& file)
    : path_(file.path), file_(file.path), part_(head_bytes, '\0') {
  part_.resize(file_.read(part_));
  waiting_ = without_byte_order_mark(part_);
  const std::size_t first = waiting_.find_first_not_of(" \t\r\n");
  is_list_ = file.json && first != waiting_.npos && waiting_[first] == '[';
  if (is_list_) to_lines(waiting_);
}

void TextSource::to_lines(std::string_view part) try {
  lines_.clear();
  if (list_ended_)
    list_.finish();
  else
    list_.push(part, lines_);
  waiting_ = lines_;
} catch (const Error& error) {
  throw Error(cat(path_.string(), " ", error.what()),
              "mend the list, or write JSON lines: a document a line");
}

bool TextSource::has_waiting() {
  while (is_list_ && waiting_.empty() && !list_ended_) {
    part_.resize(part_bytes);
    part_.resize(file_.read(part_));
    list_ended_ = part_.empty();
    to_lines(part_);
  }
  return !waiting_.empty();
}

std::size_t TextSource::read(std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size() && has_waiting()) {
    const std::size_t count = waiting_.copy(out.data() + done, out.size() - done);
    waiting_.remove_prefix(count);
    done += count;
  }
  return is_list_ ? done : done + file_.read(out.subspan(done));
}

void TextSource::skip(std::int64_t bytes) {
  while (bytes > 0 && has_waiting()) {
    const auto count = std::min(bytes, static_cast<std::int64_t>(waiting_.size()));
    waiting_.remove_prefix(static_cast<std::size_t>(count));
    bytes -= count;
  }
  if (!is_list_) file_.skip(bytes);
}

}  // namespace lockstep::textgen
