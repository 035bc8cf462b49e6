// TensorBoard's files byte by byte; its own reader reads them in tests/process/python.
#include "runtime/run/formats/tensorboard_log.h"
#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::uint64_t little_endian(const std::string& bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)))}
             << (8 * i);
  return value;
}

// The CRC before TensorFlow's mask.
std::uint32_t unmasked(std::uint64_t masked) {
  const auto rotated = static_cast<std::uint32_t>(masked) - 0xA282EAD8U;
  return (rotated >> 17) | (rotated << 15);
}

// The messages of records one after the other; checks both checksums of each.
std::vector<std::string> messages_of(const std::string& file) {
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < file.size();) {
    const std::uint64_t size = little_endian(file, at, 8);
    EXPECT_EQ(unmasked(little_endian(file, at + 8, 4)), crc32c(file.substr(at, 8)));
    messages.push_back(file.substr(at + 12, size));
    EXPECT_EQ(unmasked(little_endian(file, at + 12 + size, 4)), crc32c(messages.back()));
    at += 12 + size + 4;
  }
  return messages;
}

nlohmann::json start_at(int step) {
  return {{"kind", "start"}, {"step", step}, {"time", 1.5}, {"unit", "tokens"}};
}

// RFC 3720, B.4, and the check value of CRC-32C.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

TEST(TensorboardRecords, AreProtocolBuffersByteByByte) {
  const std::vector<TensorboardScalar> scalars{{"a/b", 0.5}};
  const auto messages = messages_of(tensorboard_scalars(1.0, 300, scalars));
  ASSERT_EQ(messages.size(), 1U);
  const std::string wanted(
      "\x09\0\0\0\0\0\0\xf0\x3f"  // 1: wall_time 1.0
      "\x10\xac\x02"              // 2: step 300
      "\x2a\x0c"                  // 5: summary
      "\x0a\x0a"                  // 1: value
      "\x0a\x03"
      "a/b"              // 1: tag
      "\x15\0\0\0\x3f",  // 2: simple_value 0.5
      9 + 3 + 2 + 2 + 5 + 5);
  EXPECT_EQ(messages[0], wanted);
  EXPECT_EQ(messages_of(tensorboard_version(0))[0].substr(9),
            "\x1a\x0d"
            "brain.Event:2");
  EXPECT_EQ(messages_of(tensorboard_restart(0, 7))[0].substr(9), "\x10\x07\x3a\x02\x08\x01");
}

TEST(ScalarsOfEvents, HaveTagsOfTheirOwn) {
  const auto tags = [](const nlohmann::json& event) {
    std::vector<std::string> all;
    for (const TensorboardScalar& scalar : scalars_of_event(event, "samples"))
      all.push_back(scalar.first);
    return all;
  };
  using Tags = std::vector<std::string>;
  EXPECT_EQ(tags({{"kind", "step"}, {"loss", 1}, {"lr", 0.5}, {"logged", {{"lr", 2}}}}),
            (Tags{"train/loss", "train/lr", "train/lr_2"}));
  EXPECT_EQ(tags({{"kind", "eval"}, {"metrics", {{"a/b", 1}, {"a_b", 2}, {"a_b_2", 3}}}}),
            (Tags{"eval/a_b", "eval/a_b_2", "eval/a_b_2_2"}));
}

TEST(ScalarsOfEvents, HaveTheNamesThatTensorBoardGroupsBy) {
  const nlohmann::json step{{"kind", "step"},
                            {"loss", nullptr},
                            {"lr", 0.5},
                            {"mfu", nullptr},
                            {"units_per_s", 10},
                            {"terms", {1, nullptr}},
                            {"logged", {{"top/1", 0.25}, {"none", nullptr}}},
                            {"memory", {{{"peak", 5}}, {{"peak", 6}}}}};
  std::string names;
  for (const auto& [tag, value] : scalars_of_event(step, "tokens"))
    names += cat(tag, "=", std::isnan(value) ? "nan" : general(value, 4), " ");
  EXPECT_EQ(names,
            "train/loss=nan train/lr=0.5 train/term_1=1 train/term_2=nan train/top_1=0.25 "
            "throughput/tokens_per_s=10 memory/rank0_peak_bytes=5 memory/rank1_peak_bytes=6 ");
  const nlohmann::json eval{{"kind", "eval"}, {"metrics", {{"f1", 0.5}, {"x", nullptr}}}};
  EXPECT_EQ(scalars_of_event(eval, "").size(), 2U);
  EXPECT_TRUE(scalars_of_event({{"kind", "checkpoint"}, {"step", 1}}, "").empty());
}

TEST(TensorboardLog, WritesAFilePerStartThatBeginsWithARestart) {
  const TemporaryDirectory folder;
  TensorboardLog log(folder.path());
  EXPECT_EQ(log.write(start_at(0)), "");
  EXPECT_EQ(log.write({{"kind", "step"}, {"step", 1}, {"time", 2.0}, {"loss", 3}}), "");
  EXPECT_EQ(log.write({{"kind", "warning"}, {"step", 1}, {"time", 2.0}}), "");
  TensorboardLog again(folder.path());
  EXPECT_EQ(again.write(start_at(0)), "") << "the same second and process";
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / "tensorboard"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].filename().string().find("events.out.tfevents.0000000001."), 0U);
  EXPECT_EQ(messages_of(read_file(files[0])).size(), 3U);
  EXPECT_EQ(messages_of(read_file(files[1])).size(), 2U);
}

TEST(TensorboardLog, AFaultIsToldOnce) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "tensorboard", "in the way");
  TensorboardLog log(folder.path());
  EXPECT_NE(log.write(start_at(0)), "");
  EXPECT_EQ(log.write(start_at(0)), "");
  EXPECT_EQ(log.write({{"kind", "step"}, {"step", 1}, {"loss", 3}}), "");
}

}  // namespace
}  // namespace lockstep
