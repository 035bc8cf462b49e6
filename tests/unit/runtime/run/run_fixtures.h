// What the tests of run directories share.
#pragma once

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {

inline void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& byte : text) byte = static_cast<char>(random() & 0xff);
  return text;
}

// Runs `body` in a child and returns its wait status.
inline int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Permissions mean nothing to root: be without that right for a while, in this thread.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    syscall(SYS_capget, &header_, before_.data());
    auto without = before_;
    without[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(syscall(SYS_capset, &header_, without.data()), 0);
  }
  ~OrdinaryUser() {
    if (syscall(SYS_capset, &header_, before_.data()) != 0) _exit(99);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> before_{};
};

}  // namespace lockstep
