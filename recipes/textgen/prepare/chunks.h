// Reads corpora of any size in parts of about a megabyte that can be processed separately.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/textgen/prepare/source_files.h"
#include "recipes/textgen/prepare/text_source.h"

namespace lockstep::textgen {

// Where a file may be cut: after a line, before a space that follows a visible ASCII character (no
// token crosses that place), or between any two characters.
enum class Cut { line, space, character };

// The part of the data to which a document belongs. by_line: each line of a jsonl file is assigned
// by its own name.
enum class Role { train, valid, by_line };

// The most bytes of a line.
inline constexpr std::size_t longest_line_bytes = std::size_t{1} << 30;

// Everything up to the end, for files that were not examined yet.
inline constexpr std::int64_t end_of_text = std::numeric_limits<std::int64_t>::max();

// A range of a file's text (TextSource); a text file's range starts a document.
struct Segment {
  std::size_t file = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t first_line = 1;  // jsonl: the number of the line at `begin`
  Role role = Role::train;
};

struct Chunk {
  const SourceFile* file = nullptr;
  Role role = Role::train;
  std::string bytes;
  std::int64_t first_line = 1;
  bool list = false;  // lines are elements of a list of JSON
  bool starts_document = true, ends_document = true;
  std::int64_t index = 0;  // of the chunk in the corpus
};

// Reads the chunks of segments, in order; no chunk is empty. Not thread-safe. Throws Error if a
// file cannot be read, is shorter than before, or has a line that is too long.
class ChunkReader {
 public:
  ChunkReader(const std::vector<SourceFile>& files, const std::vector<Segment>& segments,
              Cut text_cut, std::size_t chunk_bytes = std::size_t{1} << 20);
  bool next(Chunk& chunk);  // false at the end

 private:
  bool open_next();
  void read_chunk(Chunk& chunk);
  void read_more(std::string& bytes, std::size_t wanted);
  std::size_t find_cut(std::string_view bytes, std::size_t searched, Cut cut) const;

  const std::vector<SourceFile>& files_;
  const std::vector<Segment>& segments_;
  Cut text_cut_;
  std::size_t chunk_bytes_;
  std::size_t segment_ = 0;  // the segment after the open one
  std::optional<TextSource> source_;
  const SourceFile* file_ = nullptr;
  Role role_ = Role::train;
  std::int64_t at_ = 0, end_ = 0;  // bytes of its text not read yet
  std::int64_t line_ = 1, index_ = 0;
  bool starts_document_ = true;
  std::string rest_;  // text after the last cut that is already read
};

// A document, or a part of a large text file's document.
struct Passage {
  std::string_view text;
  bool valid = false;  // for validation
  bool starts_document = true, ends_document = true;
};

// Calls `take` for each passage of a chunk. Empty documents are left out. Throws Error, which names
// file and line, for a jsonl line that is not an object with the text `field`, and for a NUL in
// that text. With `mend`, invalid UTF-8 becomes U+FFFD.
void for_each_passage(const Chunk& chunk, const std::string& field, double valid_share, bool mend,
                      const std::function<void(const Passage&)>& take);

// Calls `take` for each line that is not blank, with its number.
void for_each_line(std::string_view bytes, std::int64_t first_line,
                   const std::function<void(std::int64_t number, std::string_view line)>& take);

// Whether the document with this name is for validation. It depends on a hash of the name alone, so
// a document stays where it is when the corpus grows.
bool is_validation(std::string_view name, double valid_share);
std::string line_name(const SourceFile& file, std::int64_t line);

}  // namespace lockstep::textgen
