// Python's pickle format, read as data.
#include "runtime/run/formats/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/error.h"
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

// A tensor of 4 elements, rebuilt with what Python says beside it, and what follows.
Pickle read_with(const std::string& beside, const std::string& after = ".") {
  using namespace std::string_literals;
  const std::string bytes =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n((" +
      text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") +
      "K\x04tQK\0K\x04\x85K\x01\x85\x89N"s + beside + "tR" + after;
  std::istringstream in(bytes);
  return read_pickle(in, bytes.size());
}

// Python looks whether the keys are there, not at what they say (_set_tensor_metadata).
TEST(Pickle, ReadsTheBitsOfATensor) {
  EXPECT_FALSE(read_with("}").tensors.at(0).negated);
  EXPECT_FALSE(read_with("N").tensors.at(0).negated);
  EXPECT_TRUE(read_with("}" + text("neg") + "\x88s").tensors.at(0).negated);
  EXPECT_TRUE(read_with("}" + text("neg") + "\x89s").tensors.at(0).negated);
  EXPECT_EQ(read_with("}" + text("neg") + "\x88s").tensors.at(0).fault, nullptr);
  EXPECT_EQ(read_with("}" + text("conj") + "\x88s").tensors.at(0).fault, &conjugated_tensor);
  EXPECT_THAT(error_of([] { read_with("K\x01"); }), HasSubstr("no small dict"));
}

// Tensor.__setstate__ would give it another storage.
TEST(Pickle, RefusesTheStateOfATensor) {
  EXPECT_THAT(error_of([] { read_with("N", "}b."); }),
              HasSubstr("sets the state of what is no dict"));
}

TEST(Pickle, RefusesATensorThatIsMadeOfItself) {
  const std::string function = "ctorch._tensor\n_rebuild_from_type_v2\n";
  const std::string bytes = "\x80\x02" + function + "(" + function + "ctorch\nTensor\n)}tR.";
  std::istringstream in(bytes);
  EXPECT_THAT(error_of([&] { read_pickle(in, bytes.size()); }), HasSubstr("made of itself"));
}

TEST(Pickle, TakesTheLastOfAKeyAsPythonDoes) {
  const std::string bytes = "\x80\x02}(" + text("a") + "K\x01" + text("a") + "K\x02u.";
  std::istringstream in(bytes);
  const Pickle pickle = read_pickle(in, bytes.size());
  EXPECT_EQ(pickle.find(pickle.at(pickle.root), "a")->integer, 2);
}

}  // namespace
}  // namespace lockstep
