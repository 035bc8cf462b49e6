// The header of a safetensors file. The tensors of an accepted header must cover the file's data
// exactly. The header must be the same after writing and reading it again.
#include "fuzz.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "runtime/run/formats/safetensors.h"

namespace lockstep {
namespace {

void check_tensors(const SafetensorsHeader& header, std::uint64_t file_bytes) {
  LOCKSTEP_CHECK(header.data_start >= 8 && header.data_start <= file_bytes);
  std::uint64_t end = 0;
  for (const TensorEntry& tensor : header.tensors) {
    LOCKSTEP_CHECK(tensor.begin == end && tensor.end >= end);
    end = tensor.end;
    unsigned __int128 bytes = dtype_bytes(tensor.dtype);
    for (const std::int64_t extent : tensor.shape) {
      LOCKSTEP_CHECK(extent >= 0);
      bytes *= static_cast<std::uint64_t>(extent);
    }
    LOCKSTEP_CHECK(bytes == tensor.end - tensor.begin);
  }
  LOCKSTEP_CHECK(end == file_bytes - header.data_start);
}

void check_again(SafetensorsHeader header) {
  const std::string text = make_header(header.tensors, header.metadata);
  const std::uint64_t data_bytes = header.tensors.empty() ? 0 : header.tensors.back().end;
  std::istringstream file(text);
  const SafetensorsHeader again = read_header(file, text.size() + data_bytes);
  LOCKSTEP_CHECK(again.metadata == header.metadata);
  LOCKSTEP_CHECK(again.tensors.size() == header.tensors.size());
}

}  // namespace
}  // namespace lockstep

#ifdef LOCKSTEP_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

// Mostly changes the JSON and says its length right, or changes the number of bytes after it: a
// wrong length is refused at once, and nothing behind it would be tried.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  std::uint64_t length = 0;
  if (size >= 8) std::memcpy(&length, data, 8);
  if (size < 8 || length > size - 8 || max_size < 64 || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  std::string tail(data + 8 + length, data + size);
  if (seed % 8 == 1) tail.resize(seed / 8 % 33);
  const std::size_t room = max_size - 8 > tail.size() ? max_size - 8 - tail.size() : 0;
  if (length > room) return LLVMFuzzerMutate(data, size, max_size);
  if (seed % 8 != 1) length = LLVMFuzzerMutate(data + 8, length, room);
  std::memcpy(data, &length, 8);
  std::copy(tail.begin(), tail.end(), data + 8 + length);
  return 8 + length + tail.size();
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::istringstream file{std::string(fuzz::text_of(data, size))};
  SafetensorsHeader header;
  if (!fuzz::accepts([&] { header = read_header(file, size); })) return 0;
  check_tensors(header, size);
  check_again(header);
  return 0;
}
