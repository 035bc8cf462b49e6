// Pictures: JPEG and PNG. An accepted picture has the shape that its header states. It is the same
// after writing it as PNG and reading it again.
#include "fuzz.h"

#include <zlib.h>

#include <cstring>

#include "core/media/pictures/picture_file.h"

#ifdef LOCKSTEP_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// Makes the checksums of a PNG's chunks right: a wrong one is refused at once, and nothing behind
// it would be tried.
void mend_checksums(std::uint8_t* data, std::size_t size) {
  constexpr std::size_t signature = 8, around = 12;
  for (std::size_t at = signature; at + around <= size;) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | data[at + i];
    if (length > size - at - around) return;
    const unsigned long sum = crc32(0, data + at + 4, static_cast<unsigned>(length + 4));
    for (std::size_t i = 0; i < 4; ++i)
      data[at + 8 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    at += around + length;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 8 != 0 && size > 8 && std::memcmp(data, "\x89PNG", 4) == 0) mend_checksums(data, size);
  return size;
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const bool turn : {true, false}) {
    const ReadPicture how{.turn = turn, .limits = {.pixels = 1 << 14}};
    Image image;
    if (!fuzz::accepts([&] { image = decode_picture(bytes, "input", how); })) continue;
    LOCKSTEP_CHECK(!image.empty());
    LOCKSTEP_CHECK(decode_picture_shape(bytes, "input", how) == image.shape());
    LOCKSTEP_CHECK(decode_picture(encode_png(image), "written", {}) == image);
  }
  return 0;
}
