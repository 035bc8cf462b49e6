// Owns a TIFF of libtiff. Its input and output go through functions, and its messages become
// Errors.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "recipes/volume/files/byte_source.h"

namespace lockstep::volume {

// The source that libtiff reads, or the descriptor that it writes to and reads back from.
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

// Opens it with a mode of TIFFOpen. The stream must outlive the handle. Nothing if libtiff refuses.
TiffHandle open_tiff_handle(TiffStream& stream, const std::string& name, const char* mode);

// Returns libtiff's last message on this thread ("LZWDecode: …"), or "it is damaged or truncated".
// Then forgets the message.
std::string take_tiff_message();

}  // namespace lockstep::volume
