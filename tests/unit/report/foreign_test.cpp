// Logs of other programs.
#include "base/crc32c.h"
#include "report_fixtures.h"

#include "base/files.h"
#include "fakes/error_of.h"
#include "report/foreign_csv.h"
#include "report/foreign_tensorboard.h"
#include "report/tensorboard_reader.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class ForeignLogs : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  }
  const TemporaryDirectory folder;
};

TEST_F(ForeignLogs, ACsvIsReadByTheUsualNames) {
  const Trial trial = read_csv_trial(
      write("log.csv",
            "step,time,train_loss,val_loss,acc\n10,100,3,,0.1\n20,105,2,2.5,0.2\n30,110,1,"
            "2.7,0.3\n40,115"));
  EXPECT_EQ(trial.source, "CSV log");
  EXPECT_EQ(trial.number("steps"), 30);
  EXPECT_NEAR(trial.find("step_s")->value, 0.5, 1e-9);
  EXPECT_EQ(trial.find("best.val_loss")->value, 2.5);
  EXPECT_EQ(trial.find("last.val_loss")->value, 2.7);
  EXPECT_EQ(trial.find("last.acc")->value, 0.3);
  EXPECT_EQ(trial.find("best.acc"), nullptr) << "whether more is better is not known";
  ASSERT_EQ(trial.curve.size(), 2U);
  EXPECT_EQ(trial.curve[0].seconds, 5);
  EXPECT_TRUE(trial.value("data").is_null());
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("are not known")));
}

TEST_F(ForeignLogs, SecondsDoNotDependOnTheOrderOfColumns) {
  for (const char* text : {"step,time,val_loss,loss\n1,100,,3\n2,105,2,2\n",
                           "step,time,loss,val_loss\n1,100,3,\n2,105,2,2\n"}) {
    const Trial trial = read_csv_trial(write("log.csv", text));
    ASSERT_EQ(trial.curve.size(), 1U);
    EXPECT_EQ(trial.curve[0].seconds, 5) << text;
    EXPECT_EQ(trial.find("train_s")->value, 5) << text;
  }
}

TEST_F(ForeignLogs, WhatAResumeTookBackDoesNotCount) {
  const Trial trial = read_csv_trial(
      write("log.csv", "step,time,loss\n1,0,3\n2,1,2\n3,2,0.5\n4,3,0.4\n3,10,1.5\n4,11,1\n"));
  EXPECT_EQ(trial.find("best.loss")->value, 1);
  EXPECT_EQ(trial.curve.size(), 4U);
  const Trial epochs =
      read_csv_trial(write("e.csv", "epoch,time,loss\n1,0,3\n1,1,0.5\n2,2,2\n2,3,1\n"));
  EXPECT_EQ(epochs.find("best.loss")->value, 0.5) << "an epoch may have several lines";
}

TEST_F(ForeignLogs, LinesAreNoStepsAndTheTimeOfAnEpochIsNoTotal) {
  const Trial trial = read_csv_trial(write("log.csv", "time,loss\n10.5,3\n10.2,2\n10.4,1\n"));
  EXPECT_TRUE(trial.value("steps").is_null());
  EXPECT_EQ(trial.find("train_s"), nullptr);
  EXPECT_EQ(trial.find("step_s"), nullptr);
  EXPECT_TRUE(trial.curve.empty());
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("its times go back")));
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("counts no steps")));
}

TEST_F(ForeignLogs, ALossIsAWordOfTheName) {
  const Trial trial = read_csv_trial(write(
      "log.csv", "step,time,loss_scale,value_loss,lossless,valLoss\n1,0,8,3,1,5\n2,1,4,2,2,6\n"));
  EXPECT_EQ(trial.find("best.loss_scale"), nullptr);
  EXPECT_EQ(trial.find("best.lossless"), nullptr);
  EXPECT_EQ(trial.find("best.value_loss")->value, 2);
  EXPECT_EQ(trial.find("last.loss_scale")->better, Better::unknown);
  EXPECT_EQ(trial.metric, "loss");
  EXPECT_EQ(trial.curve[0].value, 5) << "value_loss is of no validation";
}

TEST_F(ForeignLogs, NothingIsSaidOfTheirSpeedUntilTheUnknownIsTakenToBeEqual) {
  const Trial a = read_csv_trial(write("a.csv", "step,time,loss\n1,0,3\n2,1,2\n")),
              b = read_csv_trial(write("b.csv", "step,time,loss\n1,0,3\n2,2,2\n"));
  const auto compared = [&](const CompareOptions& options) {
    return compare({.name = "a", .trials = {a}}, {.name = "b", .trials = {b}}, options);
  };
  EXPECT_THAT(compared({}).verdict, HasSubstr("not known: data of both"));
  EXPECT_EQ(compared({.assumed = {"data", "options", "devices", "global_batch"}}).conclusion,
            Conclusion::inconclusive);
}

TEST_F(ForeignLogs, TablesThatAreNoLogsAreRefused) {
  EXPECT_THAT(error_of([&] { read_csv_trial(write("x.csv", "step,name\n1,a\n")); }),
              HasSubstr("no column of numbers"));
  EXPECT_THAT(error_of([&] { read_csv_trial(write("y.csv", "")); }), HasSubstr("y.csv"));
}

// Little-endian bytes of a number.
template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string record(const std::string& data) {
  const std::string length = bytes_of<std::uint64_t>(data.size());
  return length + bytes_of(masked_crc32c(length)) + data + bytes_of(masked_crc32c(data));
}

std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

// value: a field of Summary.Value behind the tag.
std::string event(double time, int step, const std::string& tag, const std::string& value) {
  return record("\x09" + bytes_of(time) + "\x10" + std::string(1, static_cast<char>(step)) +
                field(5, field(1, field(1, tag) + value)));
}
std::string simple(float value) { return "\x15" + bytes_of(value); }
std::string head() { return record("\x09" + bytes_of(100.0) + field(3, "brain.Event:2")); }

TEST(TensorboardReader, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);  // RFC 3720, and the CRC catalogue
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
}

TEST(TensorboardReader, BothFormsOfScalarsAreRead) {
  const std::string tensor = field(8, "\x08\x01" + field(5, bytes_of(2.5F))),
                    packed = field(8, "\x08\x02" + field(4, bytes_of(7.25)));
  const TensorboardFile file =
      read_tensorboard(head() + event(101, 1, "loss", simple(3)) + event(102, 2, "loss", tensor) +
                           event(103, 3, "x", packed),
                       "f");
  ASSERT_EQ(file.scalars.size(), 3U);
  EXPECT_EQ(file.scalars[0].tag, "loss");
  EXPECT_EQ(file.scalars[0].step, 1);
  EXPECT_EQ(file.scalars[0].wall_time, 101);
  EXPECT_EQ(file.scalars[0].value, 3);
  EXPECT_EQ(file.scalars[1].value, 2.5);
  EXPECT_EQ(file.scalars[2].value, 7.25);
  EXPECT_FALSE(file.torn);
}

TEST(TensorboardReader, AWrongChecksumEndsTheFile) {
  std::string text = head() + event(101, 1, "loss", simple(3)) + event(102, 2, "loss", simple(2));
  text[text.size() - 6] ^= 1;
  const TensorboardFile file = read_tensorboard(text, "f");
  EXPECT_EQ(file.scalars.size(), 1U);
  EXPECT_TRUE(file.torn);
  EXPECT_THAT(error_of([] { read_tensorboard("no log at all, but longer than a head", "f"); }),
              HasSubstr("f is no TensorBoard log"));
}

// A graph of a gigabyte is nothing to compare.
TEST(TensorboardReader, LargeRecordsAreSkippedUnread) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "events.out.tfevents.1";
  const std::string length = bytes_of<std::uint64_t>(1 << 30);
  const std::string before =
      head() + event(101, 1, "loss", simple(3)) + length + bytes_of(masked_crc32c(length));
  std::ofstream(file, std::ios::binary) << before;
  std::filesystem::resize_file(file, before.size() + (1 << 30) + 4);
  std::ofstream(file, std::ios::binary | std::ios::app) << event(102, 2, "loss", simple(2));
  std::ifstream whole(file, std::ios::binary);
  const TensorboardFile read = read_tensorboard(whole, "f");
  EXPECT_EQ(read.scalars.size(), 2U);
  EXPECT_FALSE(read.torn);
  std::filesystem::resize_file(file, before.size() + (1 << 20));
  std::ifstream cut(file, std::ios::binary);
  EXPECT_TRUE(read_tensorboard(cut, "f").torn);
}

TEST(TensorboardReader, MessagesThatAreNoneAreCounted) {
  EXPECT_EQ(read_tensorboard(head() + record("\x0f\xff\xff"), "f").damaged, 1);
}

TEST_F(ForeignLogs, ATensorboardFolderIsRead) {
  write("events.out.tfevents.1.host", head() + event(101, 1, "val/loss", simple(3)) +
                                          event(111, 11, "val/loss", simple(2)) +
                                          event(112, 11, "lr", simple(0.5F)));
  ASSERT_TRUE(has_tensorboard_files(folder.path()));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_EQ(trial.number("steps"), 11);
  EXPECT_EQ(trial.find("best.val/loss")->value, 2);
  EXPECT_EQ(trial.curve.size(), 2U);
}

}  // namespace
}  // namespace lockstep
