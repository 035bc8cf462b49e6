// Reads gzip forwards, piece by piece.
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

  std::uint64_t position() const { return position_; }  // offset in the inflated bytes
  // Moves to an offset in the inflated bytes. To go backwards, it inflates from the start again.
  void seek(std::uint64_t position);
  // Reads as many bytes as exist; fewer than requested only at the end. Throws Error if the data is
  // damaged or truncated.
  std::size_t read(std::span<std::byte> out);

 private:
  void restart();
  bool fill();  // returns whether there is input
  [[noreturn]] void fail(const char* why) const;

  const ByteSource& source_;
  z_stream stream_{};
  std::vector<std::byte> input_, skipped_;
  std::uint64_t next_ = 0, position_ = 0;
  bool ended_ = false;
};

}  // namespace lockstep::volume
