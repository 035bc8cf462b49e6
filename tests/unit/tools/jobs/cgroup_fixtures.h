// A control group of this machine, where its user may make one; else the test is skipped.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files/fd.h"
#include "core/base/process/spawn.h"
#include "tools/jobs/process/cgroup.h"

namespace lockstep {

class RealCgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    const CgroupPlace place = find_cgroup_place("lockstep-test-" + std::to_string(getpid()));
    if (place.folder.empty()) GTEST_SKIP() << "no control groups here: " << place.why_not;
    group = place.folder / "7";
    ASSERT_TRUE(make_cgroup(group));
    open_group = UniqueFd(open(group.c_str(), O_PATH | O_CLOEXEC));
  }
  void TearDown() override {
    if (group.empty()) return;
    kill_cgroup(group);
    for (const pid_t process : started) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    EXPECT_TRUE(comes([&] { return remove_cgroup(group.parent_path()); }));
  }
  pid_t start(const std::string& script) { return start(script, open_group.get()); }
  pid_t start(const std::string& script, int cgroup_fd) {
    started.push_back(spawn({.argv = {"sh", "-c", script}, .cgroup_fd = cgroup_fd}));
    return started.back();
  }
  int wait(pid_t process) {  // its status
    int status = 0;
    waitpid(process, &status, 0);
    std::erase(started, process);
    return status;
  }
  // False after ten seconds.
  static bool comes(const std::function<bool()>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::filesystem::path group;
  UniqueFd open_group;
  std::vector<pid_t> started;
};

}  // namespace lockstep
