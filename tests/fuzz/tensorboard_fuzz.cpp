// TensorBoard's event files, with checksums corrected so that the code behind them is reached.
// There must be no more scalars than bytes.
#include "core/base/crc32c.h"
#include "fuzz.h"

#include <cstring>

#include "tools/report/tensorboard/tensorboard_reader.h"

namespace {

using lockstep::masked_crc32c;

// Each record's checksums as they should be, as far as lengths lead.
std::string with_checksums(std::string_view text) {
  std::string bytes(text);
  for (std::size_t at = 0; at + 16 <= bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    const std::uint32_t head = masked_crc32c(std::string_view(bytes).substr(at, 8));
    std::memcpy(bytes.data() + at + 8, &head, sizeof head);
    if (length > bytes.size() - at - 16) break;
    const std::uint32_t foot = masked_crc32c(std::string_view(bytes).substr(at + 12, length));
    std::memcpy(bytes.data() + at + 12 + length, &foot, sizeof foot);
    at += 16 + length;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view given = fuzz::text_of(data, size);
  fuzz::accepts([&] { read_tensorboard(given, "f"); });
  fuzz::accepts([&] {
    const TensorboardFile file = read_tensorboard(with_checksums(given), "f");
    LOCKSTEP_CHECK(file.scalars.size() <= size);
    LOCKSTEP_CHECK(file.damaged <= static_cast<std::int64_t>(size));
  });
  return 0;
}
