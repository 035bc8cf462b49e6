// The safetensors header: written, read back, and refused when malformed.
#include "runtime/run/formats/safetensors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "run_fixtures.h"

namespace lockstep {
namespace {

std::string with_length(const std::string& header, std::uint64_t length) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(length >> (8 * i) & 0xff);
  return text + header;
}

class Safetensors : public ::testing::Test {
 protected:
  std::string refusal(const std::string& bytes) {
    std::filesystem::remove(file);  // quicker than writing over it
    put(file, bytes);
    return error_if_any([&] { read_header(file); });
  }
  // A header as text and so many bytes of data after it.
  std::string refusal(const std::string& header, std::size_t data_bytes) {
    return refusal(with_length(header, header.size()) + std::string(data_bytes, 'x'));
  }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "model.safetensors";
};

std::vector<TensorEntry> random_entries(std::mt19937& random) {
  const std::vector<std::string> dtypes = {"F64", "F32",  "F16", "BF16", "I64", "I32",
                                           "U8",  "BOOL", "I8",  "U16",  "C64"};
  std::vector<TensorEntry> entries(random() % 20);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].name = cat("layer.", i, ".\"weight\" \xc3\xa9", random() % 1000);
    entries[i].dtype = dtypes[random() % dtypes.size()];
    for (std::size_t d = random() % 4; d-- > 0;) entries[i].shape.push_back(random() % 6);
  }
  return entries;
}

TEST_F(Safetensors, WhatIsWrittenIsReadBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<TensorEntry> entries = random_entries(random);
    std::map<std::string, std::string> metadata;
    for (std::size_t i = random() % 3; i-- > 0;) metadata[cat("key", i)] = "a \"value\"\n";
    const std::string header = make_header(entries, metadata);
    ASSERT_EQ(header.size() % 8, 0u);
    const std::uint64_t data = entries.empty() ? 0 : entries.back().end;
    std::filesystem::remove(file);
    put(file, header + std::string(data, 'x'));
    const SafetensorsHeader read = read_header(file);
    EXPECT_EQ(read.metadata, metadata);
    EXPECT_EQ(read.data_start, header.size());
    ASSERT_EQ(read.tensors.size(), entries.size());
    std::uint64_t end = 0;
    for (const TensorEntry& tensor : read.tensors) {
      EXPECT_EQ(tensor.begin, end);
      end = tensor.end;
      const auto same = std::find_if(entries.begin(), entries.end(),
                                     [&](const auto& entry) { return entry.name == tensor.name; });
      ASSERT_NE(same, entries.end());
      EXPECT_EQ(tensor.dtype, same->dtype);
      EXPECT_EQ(tensor.shape, same->shape);
      EXPECT_EQ(tensor.begin, same->begin);
      EXPECT_EQ(tensor.end, same->end);
    }
  }
}

TEST_F(Safetensors, EntriesFollowEachOtherInTheOrderGiven) {
  std::vector<TensorEntry> entries = {{.name = "z", .dtype = "F32", .shape = {2, 3}},
                                      {.name = "a", .dtype = "BF16", .shape = {}},
                                      {.name = "m", .dtype = "I64", .shape = {0, 7}}};
  make_header(entries, {});
  EXPECT_EQ(entries[0].end, 24u);
  EXPECT_EQ(entries[1].begin, 24u);
  EXPECT_EQ(entries[1].end, 26u);
  EXPECT_EQ(entries[2].begin, 26u);
  EXPECT_EQ(entries[2].end, 26u);
}

TEST_F(Safetensors, EveryTruncationAndEveryByteMoreIsRefused) {
  std::vector<TensorEntry> entries = {{.name = "a", .dtype = "F32", .shape = {4}},
                                      {.name = "b", .dtype = "U8", .shape = {3}}};
  const std::string good = make_header(entries, {{"format", "pt"}}) + std::string(19, 'x');
  EXPECT_EQ(refusal(good), "");
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refusal(good.substr(0, size)), "") << size;
  EXPECT_NE(refusal(good + "x"), "");
}

TEST_F(Safetensors, RandomBytesAndFlippedBitsNeverCrash) {
  std::mt19937 random(2);
  std::vector<TensorEntry> entries = {{.name = "a", .dtype = "F32", .shape = {4}},
                                      {.name = "b", .dtype = "U8", .shape = {3}}};
  const std::string good = make_header(entries, {}) + std::string(19, 'x');
  for (int round = 0; round < 1000; ++round) {
    EXPECT_NE(refusal(random_bytes(random, random() % 64)), "");
    std::string flipped = good;
    flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    refusal(flipped);
  }
}

TEST_F(Safetensors, AHeaderLongerThanTheFileIsRefused) {
  EXPECT_NE(refusal(with_length("{}", 3)).find("should have 3 bytes"), std::string::npos);
}

TEST_F(Safetensors, AHugeHeaderIsRefusedBeforeItIsRead) {
  EXPECT_NE(refusal(with_length("{}", 100'000'001)).find("limit is 100000000"), std::string::npos);
  EXPECT_NE(refusal(with_length("{}", ~0ull)).find("limit"), std::string::npos);
}

// Printing such a shape in a message would take more stack than there is.
TEST_F(Safetensors, AHeaderThatNestsTooDeepIsRefused) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[)" + deep + R"(],"data_offsets":[0,1]}})", 1)
                .find("not JSON of a few levels"),
            std::string::npos);
}

TEST_F(Safetensors, AnEmptyHeaderIsGood) { EXPECT_EQ(refusal("{}      ", 0), ""); }

struct Malformed {
  const char* header;
  std::size_t data_bytes;
  const char* says;
};

TEST_F(Safetensors, MalformedHeadersAreRefusedWithTheReason) {
  const std::vector<Malformed> cases = {
      {"", 0, "begin with {"},
      {"[]", 0, "begin with {"},
      {" {}", 0, "begin with {"},
      {"{", 0, "not JSON"},
      {"{} x", 0, "not JSON"},
      {R"({"a":1})", 0, "must be an object"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "dtype is missing"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "shape is missing"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "data_offsets is missing"},
      {R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4, "dtype must be a text"},
      {R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, "F31"},
      {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "shape must be a list"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "but is -1"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "but is 1.0"},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}})", 4,
       "9223372036854775808"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "more than 64 bits"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "two numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "ends before"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "but is -4"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8, "shape and dtype make 4"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "hole of 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "the file has 5"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "the file has 3"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
       6, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "there twice"},
      {R"({"__metadata__":[]})", 0, "__metadata__ must be an object"},
      {R"({"__metadata__":{"a":1}})", 0, "must be a text"},
  };
  for (const Malformed& malformed : cases)
    EXPECT_NE(refusal(malformed.header, malformed.data_bytes).find(malformed.says),
              std::string::npos)
        << malformed.header << "\n"
        << refusal(malformed.header, malformed.data_bytes);
}

TEST_F(Safetensors, AMissingFileIsNamed) {
  EXPECT_NE(error_if_any([&] { read_header(folder.path() / "none"); }).find("none"),
            std::string::npos);
}

TEST(DtypeBytes, KnowsTheFormatsTypesAndRefusesOthers) {
  EXPECT_EQ(dtype_bytes("F64"), 8u);
  EXPECT_EQ(dtype_bytes("BF16"), 2u);
  EXPECT_EQ(dtype_bytes("BOOL"), 1u);
  EXPECT_THROW(dtype_bytes("float32"), Error);
  EXPECT_THROW(dtype_bytes(""), Error);
}

}  // namespace
}  // namespace lockstep
