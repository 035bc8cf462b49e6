// The record that a supervisor leaves, and the supervisor itself as a child of the test.
#include "tools/jobs/process/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "core/base/process/pass_fd.h"
#include "fakes/error_of.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

class SupervisorTest : public ::testing::Test {
 protected:
  std::filesystem::path record() const { return folder.path() / "s.jsonl"; }
  void write(const std::string& text) const { std::ofstream(record(), std::ios::binary) << text; }
  static std::string line(std::int64_t attempt) {
    return to_line(exit_json({.attempt = attempt, .problem = "a \"b\"", .code = 1})) + "\n";
  }
  JobOrder order(std::int64_t attempt, const std::string& script) const {
    const std::string number = std::to_string(attempt);
    const std::string mark = "supervisor-test-" + std::to_string(getpid()) + ":" + number;
    return {.attempt = attempt,
            .mark = mark,
            .command = {"sh", "-c", script},
            .environment = {"LOCKSTEP_ATTEMPT=" + mark},
            .folder = folder.path(),
            .out = folder.path() / ("out" + number),
            .log = folder.path() / ("log" + number)};
  }
  // One in a child, and our end of its socket.
  pid_t start() {
    auto [ours, theirs] = socket_pair();
    UniqueFd file = make_record(record());
    const pid_t child = fork();
    if (child == 0) {
      ours.reset();
      supervise(theirs.release(), std::move(file));
      _exit(0);
    }
    socket = std::move(ours);
    return child;
  }
  TemporaryDirectory folder;
  UniqueFd socket;
};

TEST_F(SupervisorTest, ARecordCutOffAnywhereKeepsItsWholeLines) {
  const std::string alone = "{\"alone\":true}\n";
  const std::string whole = line(1) + line(2) + alone + line(3);
  const std::size_t ends[] = {line(1).size(), 2 * line(1).size(), 2 * line(1).size() + alone.size(),
                              whole.size()};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write(whole.substr(0, size));
    const SupervisorRecord read = read_record(record());
    const std::size_t exits = (size >= ends[0]) + (size >= ends[1]) + (size >= ends[3]);
    ASSERT_EQ(read.exits.size(), exits) << size;
    ASSERT_EQ(read.alone, size >= ends[2]) << size;
    for (std::size_t i = 0; i < exits; ++i)
      ASSERT_EQ(read.exits[i].attempt, static_cast<std::int64_t>(i) + 1);
  }
}

TEST_F(SupervisorTest, WhatStandsAboveALineOfASyncIsOnTheDisk) {
  const std::string synced = "{\"synced\":true}\n";
  write(line(1) + line(2) + synced + line(3));
  std::vector<bool> on_disk;
  for (const JobExit& exit : read_record(record()).exits) on_disk.push_back(exit.on_disk);
  EXPECT_EQ(on_disk, (std::vector<bool>{true, true, false}));
}

TEST_F(SupervisorTest, SyncsWhatEndsWhileItIsAlone) {
  const pid_t child = start();
  send_frame(socket.get(), order_json(order(1, "exit 5")));
  FrameReader reader;
  for (int heard = 0; heard < 2;) {
    reader.read(socket.get());
    while (reader.next()) ++heard;
  }
  EXPECT_FALSE(read_record(record()).exits.at(0).on_disk) << "its scheduler does";
  send_frame(socket.get(), order_json(order(2, "sleep 0.2; exit 6")));
  socket.reset();
  waitpid(child, nullptr, 0);
  const SupervisorRecord read = read_record(record());
  ASSERT_EQ(read.exits.size(), 2U);
  for (const JobExit& exit : read.exits) EXPECT_TRUE(exit.on_disk) << exit.attempt;
}

TEST_F(SupervisorTest, LinesOfNoSenseInARecordArePassedOver) {
  write("{}\nnull\n{\"attempt\":1}\n{\"attempt\":\"x\",\"code\":1}\n\n\xff\n" + line(4) +
        std::string(1000, '\0') + "\n" + line(5));
  const SupervisorRecord read = read_record(record());
  ASSERT_EQ(read.exits.size(), 2U);
  EXPECT_EQ(read.exits[0].attempt, 4);
  EXPECT_EQ(read.exits[1].attempt, 5);
}

TEST_F(SupervisorTest, ARecordThatIsNotThereIsEmpty) {
  EXPECT_TRUE(read_record(record()).exits.empty());
  EXPECT_FALSE(supervisor_lives(record()));
}

TEST_F(SupervisorTest, OneLivesAsLongAsItsRecordIsLocked) {
  {
    const UniqueFd file = make_record(record());
    EXPECT_TRUE(supervisor_lives(record()));
    EXPECT_THAT(error_of([&] { make_record(record()); }), ::testing::HasSubstr("cannot lock"));
  }
  EXPECT_FALSE(supervisor_lives(record()));
}

TEST_F(SupervisorTest, RecordsAnEndBeforeItIsHeardOf) {
  const pid_t child = start();
  send_frame(socket.get(), order_json(order(1, "exit 5")));
  FrameReader reader;
  std::vector<nlohmann::json> heard;
  while (heard.size() < 2) {
    reader.read(socket.get());
    while (auto message = reader.next()) heard.push_back(std::move(*message));
  }
  EXPECT_EQ(heard[0].at("begun"), 1);
  EXPECT_EQ(heard[1].at("code"), 5);
  ASSERT_EQ(read_record(record()).exits.size(), 1U);
  EXPECT_EQ(read_record(record()).exits[0].code, 5);
  EXPECT_FALSE(read_record(record()).alone);
  socket.reset();
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(read_record(record()).alone);
  EXPECT_FALSE(supervisor_lives(record()));
}

TEST_F(SupervisorTest, StartsWhatWasOrderedBeforeItsSchedulerDied) {
  const pid_t child = start();
  for (int i = 1; i <= 20; ++i)
    send_frame(socket.get(), order_json(order(i, "echo x > ran" + std::to_string(i))));
  socket.reset();
  waitpid(child, nullptr, 0);
  EXPECT_EQ(read_record(record()).exits.size(), 20U);
  for (int i = 1; i <= 20; ++i)
    EXPECT_TRUE(std::filesystem::exists(folder.path() / ("ran" + std::to_string(i)))) << i;
}

// A scheduler may be killed as soon as it has asked for it; the next one must know that this one
// will start what it was told to.
TEST_F(SupervisorTest, IsSeenToLiveFromItsStartOn) {
  SupervisorLink link({"sh", "-c", "exec sleep 0.3"}, record());
  EXPECT_TRUE(supervisor_lives(record()));
  kill(link.pid(), SIGKILL);
  waitpid(link.pid(), nullptr, 0);
}

class SupervisorThatEnds : public SupervisorTest {
 protected:
  static bool has_ended(const SupervisorLink& link) {
    siginfo_t ended{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(link.pid()), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    return ended.si_pid == link.pid();
  }
};

// As one that is killed on a busy machine: its files are closed some time before its orphans have
// another parent.
TEST_F(SupervisorThatEnds, IsWaitedForAfterItsSocketIsClosed) {
  SupervisorLink link({"bash", "-c", "eval \"exec $0>&-\"; sleep 0.2"}, record());
  while (link.take([](std::int64_t, pid_t) {})) usleep(1000);
  EXPECT_FALSE(has_ended(link));
  link.wait_for_end();
  EXPECT_TRUE(has_ended(link));
}

// What jobs left behind is over when a batch is: to look for it takes time where there are
// thousands of processes.
TEST_F(SupervisorThatEnds, IsWaitedForWhereItHasNoJob) {
  SupervisorLink link({"sh", "-c", "sleep 0.2"}, record());
  link.end();
  EXPECT_TRUE(has_ended(link));
}

}  // namespace
}  // namespace lockstep
