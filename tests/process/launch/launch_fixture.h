// Launches shell scripts as ranks and looks at what became of their processes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"

namespace lockstep {

// Runs still, and is no zombie.
inline bool alive(pid_t pid) {
  std::ifstream file(cat("/proc/", pid, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return false;
  const char state = line.at(line.rfind(')') + 2);
  return state != 'Z' && state != 'X';
}

// Waits up to 10 s for what should come to pass soon.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class LaunchFixture : public ::testing::Test {
 protected:
  // Ranks run it by sh; $DIR is a folder that they share with the test. `note PID…` records pids.
  LaunchSpec script(int ranks, const std::string& text) {
    const std::string prelude =
        "note() { echo $* > $DIR/.$RANK && mv $DIR/.$RANK $DIR/pids$RANK; }\n"
        "await() { while [ ! -e $DIR/$1 ]; do sleep 0.01; done; }\n";
    LaunchSpec spec{.argv = {"/bin/bash", "--norc", "-c", prelude + text},
                    .environment = {{"DIR", dir().string()}},
                    .log_dir = dir() / "logs"};
    for (int i = 0; i < ranks; ++i) spec.devices.push_back({.index = i, .name = "CPU"});
    return spec;
  }
  LaunchOutcome run(const LaunchSpec& spec) {
    const double start_s = system_clock().now_s();
    LaunchOutcome outcome = launch(spec, system_clock());
    took_s_ = system_clock().now_s() - start_s;
    return outcome;
  }
  std::string log(int rank) { return read_file(dir() / "logs" / cat("rank", rank, ".log")); }
  bool has_pids(int rank) { return std::filesystem::exists(dir() / cat("pids", rank)); }
  std::vector<pid_t> pids(int rank) {
    std::ifstream file(dir() / cat("pids", rank));
    std::vector<pid_t> all;
    for (pid_t pid; file >> pid;) all.push_back(pid);
    EXPECT_FALSE(all.empty()) << "rank " << rank << " noted no process";
    return all;
  }
  const std::filesystem::path& dir() const { return folder_.path(); }

  TemporaryDirectory folder_;
  double took_s_ = 0;
};

}  // namespace lockstep
