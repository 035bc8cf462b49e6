// Owns a TIFF handle of libtiff. libtiff reads and writes through our own functions. Its messages
// are kept, so that they can be put into an Error.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "recipes/volume/files/byte_source.h"

namespace lockstep::volume {

// The data behind a TIFF handle: the source from which libtiff reads, or the file descriptor to
// which it writes. libtiff also reads from a file to which it writes.
struct TiffStream {
  const ByteSource* source = nullptr;
  int fd = -1;
  std::uint64_t position = 0;
  int error = 0;                 // errno of a failed write
  std::exception_ptr failure{};  // exception of a failed read
};

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

// Opens a TIFF. name: the name of the file, for messages. mode: as for TIFFOpen. The stream must
// outlive the handle. Returns null if libtiff cannot open the TIFF.
TiffHandle open_tiff_handle(TiffStream& stream, const std::string& name, const char* mode);

// Returns libtiff's last message on this thread ("LZWDecode: …") and clears it. If there is no
// message, returns "it is damaged or truncated".
std::string take_tiff_message();

}  // namespace lockstep::volume
