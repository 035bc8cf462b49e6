// Messages over a stream socket come whole, in order, and with their open files.
#include "tools/jobs/frames.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/process/pass_fd.h"

namespace lockstep {
namespace {

using Read = FrameReader::Read;
using nlohmann::json;

class Frames : public ::testing::Test {
 protected:
  Frames() { std::tie(here, there) = socket_pair(); }
  // The next message; waits for it.
  std::optional<json> receive() {
    for (int i = 0; i < 2000; ++i) {
      if (auto message = reader.next()) return message;
      if (reader.read(there.get()) == Read::ended) return reader.next();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::nullopt;
  }
  UniqueFd here, there;
  FrameReader reader;
};

TEST_F(Frames, ComeWholeAndInOrder) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send_frame(here.get(), {{"number", i}}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(receive(), json({{"number", i}}));
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.read(there.get()), Read::nothing_now);
}

TEST_F(Frames, AreReadHoweverTheyAreCut) {
  ASSERT_TRUE(send_frame(here.get(), {{"text", std::string(500, 'x')}}));
  ASSERT_TRUE(send_frame(here.get(), {{"second", 2}}));
  std::string bytes(2000, '\0');
  bytes.resize(static_cast<std::size_t>(recv(there.get(), bytes.data(), bytes.size(), 0)));
  auto [a, b] = socket_pair();
  std::vector<json> got;
  for (const char byte : bytes) {
    ASSERT_EQ(write(a.get(), &byte, 1), 1);
    ASSERT_EQ(reader.read(b.get()), Read::more);
    while (auto message = reader.next()) got.push_back(std::move(*message));
  }
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0]["text"], std::string(500, 'x'));
  EXPECT_EQ(got[1]["second"], 2);
}

TEST_F(Frames, MayBeLargerThanTheSocketHolds) {
  const json large{{"text", std::string(3'000'000, 'y')}};
  std::thread sender([&] { EXPECT_TRUE(send_frame(here.get(), large)); });
  EXPECT_EQ(receive(), large);
  sender.join();
}

TEST_F(Frames, TwoThatSendMoreThanASocketHoldsDoNotWaitForEachOther) {
  const json large{{"text", std::string(3'000'000, 'y')}};
  std::thread other([&] {
    EXPECT_TRUE(send_frame(there.get(), large));
    FrameReader theirs;
    while (!theirs.next())
      if (theirs.read(there.get()) == Read::ended) break;
  });
  FrameReader ours;
  EXPECT_TRUE(send_frame(here.get(), large, {}, &ours));
  other.join();
  while (ours.read(here.get()) == Read::more) continue;
  EXPECT_EQ(ours.next(), large);
}

TEST_F(Frames, AnyTextComesThrough) {
  const json odd{{"text", "zero \0 newline \n quote \" \xc3\xa9"}};
  send_frame(here.get(), odd);
  EXPECT_EQ(receive(), odd);
}

TEST_F(Frames, CarryOpenFilesToTheirMessage) {
  const auto file = [](const std::string& text) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
    std::vector<UniqueFd> files;
    files.emplace_back(ends[0]);
    return files;
  };
  std::vector<UniqueFd> two = file("a"), more = file("b");
  two.push_back(std::move(more[0]));
  ASSERT_TRUE(send_frame(here.get(), {{"files", 2}}, two));
  ASSERT_TRUE(send_frame(here.get(), {{"files", 0}}));
  ASSERT_TRUE(send_frame(here.get(), {{"files", 1}}, file("c")));
  std::vector<std::string> texts;
  for (int i = 0; i < 3; ++i)
    for (const UniqueFd& each : reader.take_files((*receive())["files"].get<std::size_t>())) {
      char byte = 0;
      EXPECT_EQ(read(each.get(), &byte, 1), 1);
      EXPECT_NE(fcntl(each.get(), F_GETFD) & FD_CLOEXEC, 0);
      texts.emplace_back(1, byte);
    }
  EXPECT_THAT(texts, ::testing::ElementsAre("a", "b", "c"));
}

TEST_F(Frames, AnEndIsSeenAfterTheLastMessage) {
  send_frame(here.get(), {{"last", 1}});
  here.reset();
  EXPECT_EQ(receive(), json({{"last", 1}}));
  EXPECT_EQ(reader.read(there.get()), Read::ended);
}

TEST_F(Frames, OneThatWasCutByADeathIsNoMessage) {
  ASSERT_TRUE(send_frame(here.get(), {{"text", std::string(100, 'x')}}));
  std::string bytes(200, '\0');
  bytes.resize(static_cast<std::size_t>(recv(there.get(), bytes.data(), bytes.size(), 0)));
  ASSERT_EQ(write(here.get(), bytes.data(), bytes.size() - 1),
            static_cast<ssize_t>(bytes.size() - 1));
  here.reset();
  EXPECT_EQ(receive(), std::nullopt);
}

TEST_F(Frames, NobodyAtTheOtherEndIsNoSignal) {
  there.reset();
  EXPECT_FALSE(send_frame(here.get(), {{"a", 1}}));
}

}  // namespace
}  // namespace lockstep
