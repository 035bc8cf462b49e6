// Decompresses gzip data, from start to end or from any offset.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recipes/volume/files/byte_source.h"

namespace lockstep::volume {

class GzipReader {
 public:
  explicit GzipReader(const ByteSource& source);  // the source must outlive it
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  std::uint64_t position() const { return position_; }  // offset in the decompressed bytes
  // Moves to an offset in the decompressed bytes. Moving backwards decompresses again from the
  // start.
  void seek(std::uint64_t position);
  // Fills `out`, or a part of it at the end of the data. Returns the number of bytes read. Throws
  // Error if the data is damaged or truncated.
  std::size_t read(std::span<std::byte> out);

 private:
  void restart();
  bool fill();  // reads more input; false at the end
  [[noreturn]] void fail(const char* why) const;

  const ByteSource& source_;
  z_stream stream_{};
  std::vector<std::byte> input_, skipped_;
  std::uint64_t next_ = 0, position_ = 0;
  bool ended_ = false;
};

}  // namespace lockstep::volume
