// What the tests of run directories share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "base/files.h"
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

// Permissions mean nothing to root: be somebody else for a while.
class OrdinaryUser {
 public:
  OrdinaryUser() : changed_(geteuid() == 0 && seteuid(65534) == 0) {}
  ~OrdinaryUser() {
    if (changed_ && seteuid(0) != 0) _exit(99);
  }

 private:
  bool changed_;
};

}  // namespace lockstep
