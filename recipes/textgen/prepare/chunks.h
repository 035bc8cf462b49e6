// Reads corpora of any size in chunks of about a megabyte, which can be processed separately.
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

// The places where a file may be cut into chunks:
//   line        after a line
//   space       before a space that follows a visible ASCII character, because no token crosses
//               that place; in text without such a space, between two characters after 16 chunks
//   character   between any two characters
enum class Cut { line, space, character };

// The use of a document: training or validation. by_line: each line of a jsonl file is a document,
// and is_validation() decides by the name of the document.
enum class Role { train, valid, by_line };

// The largest number of bytes of a line.
inline constexpr std::size_t longest_line_bytes = std::size_t{1} << 30;

// The value of Segment::end for a file whose length is not yet known.
inline constexpr std::int64_t end_of_text = std::numeric_limits<std::int64_t>::max();

// Bytes [begin, end) of the text of a file, as TextSource returns it. In a file that is not jsonl,
// each segment is a document.
struct Segment {
  std::size_t file = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t first_line = 1;  // number of the line at `begin`; only for jsonl
  Role role = Role::train;
};

struct Chunk {
  const SourceFile* file = nullptr;
  Role role = Role::train;
  std::string bytes;
  std::int64_t first_line = 1;
  bool list = false;  // whether each line is an element of a JSON list
  bool starts_document = true, ends_document = true;
  std::int64_t index = 0;  // number of the chunk in the corpus, from 0
};

// Reads the chunks of segments, in order. No chunk is empty. Each chunk ends where a file may be
// cut: at a line for jsonl, and by `text_cut` for other files. The reader is not thread-safe. The
// arguments must outlive the reader. next() throws Error if a file cannot be read, has become
// shorter, or has a line of more than longest_line_bytes.
class ChunkReader {
 public:
  ChunkReader(const std::vector<SourceFile>& files, const std::vector<Segment>& segments,
              Cut text_cut, std::size_t chunk_bytes = std::size_t{1} << 20);
  bool next(Chunk& chunk);  // returns false at the end

 private:
  bool open_next();
  void read_chunk(Chunk& chunk);
  void read_more(std::string& bytes, std::size_t wanted);
  std::size_t find_cut(std::string_view bytes, std::size_t searched, Cut cut) const;

  const std::vector<SourceFile>& files_;
  const std::vector<Segment>& segments_;
  Cut text_cut_;
  std::size_t chunk_bytes_;
  std::size_t segment_ = 0;  // index of the segment after the open one
  std::optional<TextSource> source_;
  const SourceFile* file_ = nullptr;
  Role role_ = Role::train;
  std::int64_t at_ = 0, end_ = 0;  // range of the text that is not yet read
  std::int64_t line_ = 1, index_ = 0;
  bool starts_document_ = true;
  std::string rest_;  // text that was read, but lies after the last cut
};

// A document, or a part of a document that is longer than a chunk.
struct Passage {
  std::string_view text;
  bool valid = false;  // whether the document is for validation
  bool starts_document = true, ends_document = true;
};

// Calls `take` for each passage of a chunk. Empty documents are left out. With `mend`, invalid
// UTF-8 becomes U+FFFD. A line of a jsonl file must be an object with a string under the key
// `field`. An element of a JSON list may also be a string. If it is neither, throws Error that
// names the file and the line. Also throws Error if the text has a NUL.
void for_each_passage(const Chunk& chunk, const std::string& field, double valid_share, bool mend,
                      const std::function<void(const Passage&)>& take);

// Calls `take` for each line that is not blank. first_line: the number of the first line.
void for_each_line(std::string_view bytes, std::int64_t first_line,
                   const std::function<void(std::int64_t number, std::string_view line)>& take);

// Returns whether the document with this name is for validation. The result depends only on a hash
// of the name and on valid_share. So documents stay in training or in validation when the corpus
// grows.
bool is_validation(std::string_view name, double valid_share);
std::string line_name(const SourceFile& file, std::int64_t line);

}  // namespace lockstep::textgen
