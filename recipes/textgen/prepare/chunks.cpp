// Reads corpora of any size in chunks.
#include "recipes/textgen/prepare/chunks.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {
namespace {

bool visible(char c) { return c > 0x20 && c < 0x7F; }

std::size_t last_character(std::string_view bytes) {
  std::size_t at = bytes.size();
  for (int back = 0; back < 4 && at > 1; ++back) {
    --at;
    if ((static_cast<unsigned char>(bytes[at]) & 0xC0) != 0x80) return at;
  }
  return bytes.size();
}

}  // namespace

ChunkReader::ChunkReader(const std::vector<SourceFile>& files, const std::vector<Segment>& segments,
                         Cut text_cut, std::size_t chunk_bytes)
    : files_(files), segments_(segments), text_cut_(text_cut), chunk_bytes_(chunk_bytes) {}

bool ChunkReader::open_next() {
  if (segment_ == segments_.size()) return false;
  const Segment& segment = segments_[segment_++];
  file_ = &files_[segment.file];
  source_.emplace(*file_);
  source_->skip(segment.begin);
  role_ = segment.role;
  at_ = segment.begin;
  end_ = segment.end;
  line_ = segment.first_line;
  starts_document_ = true;
  return true;
}

void ChunkReader::read_more(std::string& bytes, std::size_t wanted) {
  // small pieces, because a file may be much shorter than `wanted`
  constexpr std::size_t piece_bytes = 64 << 10;
  while (wanted > 0 && at_ < end_) {
    const std::size_t size = bytes.size();
    const auto piece = static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(std::min(wanted, piece_bytes)), end_ - at_));
    bytes.resize(size + piece);
    const std::size_t got = source_->read({bytes.data() + size, piece});
    bytes.resize(size + got);
    at_ += static_cast<std::int64_t>(got);
    wanted -= got;
    if (got == piece) continue;
    if (end_ != end_of_text)
      throw Error(cat("cannot read ", file_->path.string(), ": it became shorter meanwhile"),
                  "leave the corpus unchanged while it is being prepared");
    end_ = at_;
  }
}

// Finds the place for a cut; 0 if there is none. The first `searched` bytes contain no end of a
// line.
std::size_t ChunkReader::find_cut(std::string_view bytes, std::size_t searched, Cut cut) const {
  if (cut == Cut::line) {
    const std::size_t end = bytes.substr(searched).rfind('\n');
    return end == bytes.npos ? 0 : searched + end + 1;
  }
  if (cut == Cut::character) return last_character(bytes);
  for (std::size_t at = bytes.size() - 1; at > 0; --at)
    if (bytes[at] == ' ' && visible(bytes[at - 1])) return at;
  // A text without spaces is cut between characters when it becomes too large for memory.
  return bytes.size() >= 16 * chunk_bytes_ ? last_character(bytes) : 0;
}

void ChunkReader::read_chunk(Chunk& chunk) {
  chunk.bytes = std::exchange(rest_, {});
  const Cut cut = file_->jsonl ? Cut::line : text_cut_;
  while (at_ < end_) {
    const std::size_t searched = chunk.bytes.size();
    read_more(chunk.bytes, chunk_bytes_);
    if (at_ == end_) break;
    if (const std::size_t place = find_cut(chunk.bytes, searched, cut); place != 0) {
      rest_ = chunk.bytes.substr(place);
      chunk.bytes.resize(place);
      break;
    }
    if (cut == Cut::line && chunk.bytes.size() > longest_line_bytes)
      throw Error(cat(file_->path.string(), " line ", line_, " is longer than ",
                      format_bytes(static_cast<double>(longest_line_bytes))),
                  "a line of JSON lines holds one document; end each with a line feed");
  }
}

bool ChunkReader::next(Chunk& chunk) {
  do {
    while (rest_.empty() && at_ == end_)
      if (!open_next()) return false;
    read_chunk(chunk);
  } while (chunk.bytes.empty());
  chunk.file = file_;
  chunk.role = role_;
  chunk.list = source_->is_list();
  chunk.starts_document = starts_document_;
  chunk.first_line = line_;
  chunk.index = index_++;
  starts_document_ = false;
  chunk.ends_document = rest_.empty() && at_ == end_;
  if (file_->jsonl) line_ += std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n');
  return true;
}

}  // namespace lockstep::textgen
