// A made /proc under a temporary root.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/doctor/evidence/evidence.h"

namespace lockstep::testing {

class MadeProc : public ::testing::Test {
 protected:
  MadeProc() { file("uptime", "1000.5 2000.0\n"); }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((proc() / path).parent_path());
    std::ofstream(proc() / path, std::ios::binary) << text;
  }
  void open(int pid, int fd, const std::string& target) {
    const std::filesystem::path folder = proc() / cat(pid) / "fd";
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink(target, folder / cat(fd));
  }
  // That cannot be read as a file.
  void unreadable(int pid, const std::string& what) {
    std::filesystem::create_directories(proc() / cat(pid) / what);
  }
  static std::string stat(const std::string& name, int parent, double cpu_s, char state = 'S') {
    const long second = sysconf(_SC_CLK_TCK);
    std::string text = cat("1 (", name, ") ", state, " ", parent, " 20 30");
    for (int field = 7; field < 14; ++field) text += " 0";
    text += cat(" ", static_cast<long>(cpu_s * static_cast<double>(second)), " ", second);
    for (int field = 16; field < 22; ++field) text += " 0";
    text += cat(" ", 100 * second);  // its start
    for (int field = 23; field < 42; ++field) text += " 0";
    return text + cat(" ", 2 * second, " 0 0\n");  // it waited for disks
  }
  // cmdline: its words, each of which ends with |.
  void process(int pid, int parent, std::string cmdline, const std::string& maps = "") {
    std::replace(cmdline.begin(), cmdline.end(), '|', '\0');
    file(cat(pid, "/stat"), stat("a name", parent, 5));
    file(cat(pid, "/cmdline"), cmdline);
    file(cat(pid, "/maps"), maps);
    file(cat(pid, "/environ"), std::string("HOME=/root\0", 11));
    std::filesystem::create_directories(proc() / cat(pid) / "fd");
    file(cat(pid, "/task/", pid, "/stat"), stat("main", parent, 4));
  }
  std::filesystem::path proc() const { return root_.path() / "proc"; }
  ProcessSnapshot snapshot(const std::set<int>& pids = {}) const {
    return snapshot_of(7.5, pids, root_.path());
  }
  static std::string map(const std::string& path) {
    return cat("7f00-7f01 r-xp 00000000 08:01 42    ", path, "\n");
  }
  TemporaryDirectory root_;
};

}  // namespace lockstep::testing
