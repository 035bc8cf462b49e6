// Python's pickle format, read as data.
#include "run/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

std::string text(const std::string& value) {
  std::string bytes = "X";
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(value.size() >> shift & 0xff);
  return bytes + value;
}

// Tensors of one storage whose key is so long; the value is a tuple of them.
Pickle read_tensors(std::size_t key_bytes, int tensors) {
  using namespace std::string_literals;
  std::string bytes =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor\nq\x01(" +
      text("storage") + "ctorch\nFloatStorage\n" + text(std::string(key_bytes, 'k')) + text("cpu") +
      "K\x04tQq\x02(";
  for (int i = 0; i < tensors; ++i) bytes += "h\x01(h\x02K\0K\x04\x85K\x01\x85tR"s;
  bytes += "t.";
  std::istringstream in(bytes);
  return read_pickle(in, bytes.size());
}

TEST(Pickle, KeepsAStoragesKeyOnceForAllItsTensors) {
  const Pickle pickle = read_tensors(4096, 1000);
  EXPECT_EQ(pickle.tensors.size(), 1000U);
  EXPECT_EQ(pickle.storages.size(), 1U);
  EXPECT_EQ(pickle.storages.at(pickle.tensors.back().storage).key.size(), 4096U);
  EXPECT_EQ(pickle.tensors.back().sizes, std::vector<std::int64_t>{4});
}

TEST(Pickle, RefusesKeysThatNoStorageHas) {
  EXPECT_THAT(error_of([] { read_tensors(4097, 1); }), HasSubstr("longer than 4096 bytes"));
}

}  // namespace
}  // namespace lockstep
