// Reads corpora of any size in parts.
#include "recipes/textgen/prepare/chunks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/lfs_pointer.h"
#include "base/text.h"

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
  fd_.reset(::open(file_->path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd_)
    throw Error(cat("cannot read ", file_->path.string(), ": ", errno_text(errno)),
                "check the permissions of the file");
  refuse_lfs_pointer(fd_.get(), file_->path);
  role_ = segment.role;
  at_ = segment.begin;
  end_ = segment.end;
  line_ = segment.first_line;
  starts_document_ = true;
  return true;
}

void ChunkReader::read_more(std::string& bytes, std::size_t wanted) {
  const auto left = static_cast<std::size_t>(end_ - at_);
  std::size_t size = bytes.size();
  const std::size_t goal = size + std::min(wanted, left);
  bytes.resize(goal);
  while (size < goal) {
    const ssize_t got = ::pread(fd_.get(), bytes.data() + size, goal - size, at_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw Error(cat("cannot read ", file_->path.string(), ": ",
                      got == 0 ? std::string("it became shorter meanwhile") : errno_text(errno)),
                  "leave the corpus unchanged while it is being prepared");
    size += static_cast<std::size_t>(got);
    at_ += got;
  }
}

// 0 = there is none.
std::size_t ChunkReader::find_cut(std::string_view bytes, Cut cut) const {
  if (cut == Cut::line) return bytes.rfind('\n') + 1;  // npos + 1 == 0
  if (cut == Cut::character) return last_character(bytes);
  for (std::size_t at = bytes.size() - 1; at > 0; --at)
    if (bytes[at] == ' ' && visible(bytes[at - 1])) return at;
  // Text without spaces: cut it between characters after all before it fills the memory.
  return bytes.size() >= 16 * chunk_bytes_ ? last_character(bytes) : 0;
}

bool ChunkReader::next(Chunk& chunk) {
  while (rest_.empty() && at_ == end_)
    if (!open_next()) return false;
  chunk.file = file_;
  chunk.role = role_;
  chunk.starts_document = starts_document_;
  chunk.first_line = line_;
  chunk.index = index_++;
  chunk.bytes = std::exchange(rest_, {});
  const Cut cut = file_->jsonl ? Cut::line : text_cut_;
  while (at_ < end_) {
    read_more(chunk.bytes, chunk_bytes_);
    if (at_ == end_) break;
    if (const std::size_t place = find_cut(chunk.bytes, cut); place != 0) {
      rest_ = chunk.bytes.substr(place);
      chunk.bytes.resize(place);
      break;
    }
  }
  starts_document_ = false;
  chunk.ends_document = rest_.empty() && at_ == end_;
  if (file_->jsonl) line_ += std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n');
  return true;
}

}  // namespace lockstep::textgen
