// `lockstep doctor` over a fake NVML, and programs for it to look at.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "checkout_paths.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"
#include "fakes/tool.h"

namespace lockstep::testing {

// A program that is ready to be looked at, and ends with this object.
class Patient {
 public:
  // group: of processes, that of a brother; 0 for its own.
  explicit Patient(std::vector<std::string> words,
                   const std::map<std::string, std::string>& environment = {}, pid_t group = 0) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, group);
      dup2(ends[1], 1);
      close(ends[0]);
      close(ends[1]);
      for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LOCAL_RANK", "RANK"})
        unsetenv(name);
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    char byte = 1;
    EXPECT_EQ(read(ends[0], &byte, 1), 1) << words[0];
    close(ends[0]);
  }
  ~Patient() { end(); }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;
  void end() {
    if (pid_ <= 0) return;
    for (const pid_t child : children_of(pid_)) {
      for (const pid_t grandchild : children_of(child)) kill(grandchild, SIGKILL);
      kill(child, SIGKILL);
    }
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

// Held by a test whose program keeps cores busy: several at once would leave none enough of them.
class BusyCores {
 public:
  BusyCores() : file_(open(program("tests/fake-gpu-user").c_str(), O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(flock(file_.get(), LOCK_EX), 0);
  }

 private:
  UniqueFd file_;
};

class Doctor : public ::testing::Test {
 protected:
  using json = nlohmann::json;
  Doctor() {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    set({gpu(0), gpu(1)});
    environment_["LOCKSTEP_NVML"] = LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so";
    environment_["FAKE_NVML"] = folder_.path() / "gpus.json";
  }
  void set(const json& gpus) {
    write_file_atomic(folder_.path() / "gpus.json", json{{"gpus", gpus}}.dump());
  }
  // One that works if it has processes, else one that idles.
  static json gpu(int index, const std::vector<int>& pids = {}) {
    json processes = json::array();
    for (const int pid : pids) processes.push_back({{"pid", pid}, {"memory", 1 << 20}});
    const double sm = pids.empty() ? 0 : 80;
    return {{"uuid", cat("GPU-0", index)},
            {"name", "NVIDIA H200"},
            {"bus", index + 1},
            {"utilization", pids.empty() ? 0 : 90},
            {"memory", 1ull << 34},
            {"used", 1 << 21},
            {"gpm", {{"2", sm}, {"5", sm / 2}, {"10", sm / 2}}},
            {"processes", processes}};
  }
  // The words of a program that maps files of these names.
  std::vector<std::string> user(const std::vector<std::string>& libraries,
                                const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{program("tests/fake-gpu-user"), "train.py"};
    for (const std::string& library : libraries) {
      const std::filesystem::path path = folder_.path() / library;
      std::ofstream(path) << "a library";
      words.insert(words.end(), {"--map", path});
    }
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<std::string> command(std::vector<std::string> words, const char* duration = "1s") {
    words.insert(words.begin(), {program("lockstep"), "doctor", "--duration", duration});
    return words;
  }
  ToolResult doctor(const std::vector<std::string>& words) {
    return ToolProcess(command(words), folder_.path(), environment_).wait();
  }
  // What is wrong with the program: findings as JSON, after a look at it alone.
  json findings(pid_t pid) {
    const ToolResult result = doctor({std::to_string(pid), "--json"});
    EXPECT_EQ(result.err, "");
    const json look = json::parse(result.out, nullptr, false);
    if (!look.is_object()) return json::array();
    EXPECT_EQ(result.code, look["findings"].empty() ? 0 : 1);
    return look["findings"];
  }
  // Of a program that works: where others keep it from that, looked at again.
  json findings_at_work(pid_t pid) {
    json list = findings(pid);
    for (int again = 0; again < 4 && list.empty(); ++again) list = findings(pid);
    return list;
  }
  static std::vector<std::string> rules(const json& findings) {
    std::vector<std::string> names;
    for (const json& finding : findings) names.push_back(finding["rule"]);
    return names;
  }
  static std::string text_of(const json& finding, const char* key) {
    return finding[key].is_string() ? finding[key].get<std::string>() : finding[key].dump();
  }
  TemporaryDirectory folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace lockstep::testing
