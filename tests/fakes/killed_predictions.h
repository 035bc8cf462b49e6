// `lockstep predict` killed with -9 at random moments, again and again, over the recipes.
#pragma once

#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/predictions/prediction_record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::testing {

// Of 50 kills in all: a recipe's are those whose last digit it has, so that a tenth has one recipe.
inline bool is_kill_of(int number, int recipe) { return number % 10 % 3 == recipe; }

// Whether this run of the tests has one.
inline bool has_kills_of(int recipe) { return tenth() < 0 || is_kill_of(tenth(), recipe); }

class KilledPredictions {
 public:
  // words: of a prediction, without out=, that takes a second or more. folder: where it runs.
  KilledPredictions(std::vector<std::string> words, std::filesystem::path folder)
      : words_(std::move(words)), folder_(std::move(folder)) {}

  void run(int recipe) {
    constexpr int kills = 50;
    const ToolResult whole = start("whole").wait();
    EXPECT_EQ(whole.code, 0) << whole.err;
    for (int number = 0; number < kills; ++number)
      if (is_kill_of(number, recipe) && has_turn(static_cast<std::size_t>(number)))
        EXPECT_TRUE(kill_one(number)) << number;
    end();
  }

 private:
  using Clock = std::chrono::steady_clock;

  ToolProcess start(const std::string& out) {
    std::vector<std::string> words{program("lockstep"), "predict"};
    words.insert(words.end(), words_.begin(), words_.end());
    words.insert(words.end(), {"out=" + out, "--json"});
    const std::size_t records = records_in(out);
    const auto begin = Clock::now();
    ToolProcess process(words, folder_);
    if (out == "whole") {
      while (records_in(out) == records && ::kill(process.pid(), 0) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      begun_s_ = std::chrono::duration<double>(Clock::now() - begin).count();
      siginfo_t info{};
      waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT);
      seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return process;
  }

  std::size_t records_in(const std::string& out) const {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder_ / out / records_name, error);
    return error ? 0 : static_cast<std::size_t>(std::distance(entry, {}));
  }

  // One of four at any moment, the others while it predicts. What came to its end before is
  // checked, and begun anew.
  bool kill_one(int number) {
    constexpr int most_tries = 8;
    std::mt19937 random(static_cast<unsigned>(number));
    const bool any = number % 4 == 0;
    std::uniform_real_distribution<double> moment_s(0, any ? seconds_ : seconds_ - begun_s_);
    for (int tries = 0; tries < most_tries; ++tries)
      if (kill_once(any, moment_s(random))) return true;
    return false;
  }

  // False: it came to its end before.
  bool kill_once(bool any, double after_s) {
    const std::size_t records = records_in("killed");
    ToolProcess process = start("killed");
    while (!any && records_in("killed") == records && is_running(process.pid()))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::duration<double>(after_s));
    ::kill(process.pid(), SIGKILL);
    const ToolResult result = process.wait();
    note_outputs();
    if (result.code == 128 + SIGKILL) return true;
    EXPECT_EQ(result.code, 0) << result.err;
    check_whole(result);
    std::filesystem::remove_all(folder_ / "killed");
    seen_.clear();
    return false;
  }

  static bool is_running(pid_t pid) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid == 0;
  }

  void end() {
    const ToolResult result = start("killed").wait();
    EXPECT_EQ(result.code, 0) << result.err;
    note_outputs();
    check_whole(result);
  }

  // An output that has its name keeps it, and is never made again.
  void note_outputs() {
    for (const auto& [name, file] : outputs("killed")) {
      const auto [first, is_new] = seen_.emplace(name, file.inode);
      EXPECT_EQ(first->second, file.inode) << name << " was made twice";
    }
  }

  void check_whole(const ToolResult& result) {
    const auto whole = outputs("whole"), made = outputs("killed");
    std::map<std::string, std::string> expected, found;
    for (const auto& [name, file] : whole) expected[name] = file.bytes;
    for (const auto& [name, file] : made) found[name] = file.bytes;
    EXPECT_TRUE(found == expected) << made.size() << " outputs, not " << whole.size();
    for (const auto& [name, file] : seen_) EXPECT_TRUE(found.contains(name)) << name;
    const auto said = nlohmann::json::parse(result.out);
    EXPECT_EQ(said.at("predicted").get<int>() + said.at("already").get<int>(), said.at("items"));
    EXPECT_TRUE(said.at("skipped").empty());
  }

  struct Output {
    ino_t inode;
    std::string bytes;
  };
  // Also what should not be there.
  std::map<std::string, Output> outputs(const std::string& out) const {
    std::map<std::string, Output> all;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(folder_ / out, error), last;
         !error && entry != last; entry.increment(error)) {
      const std::string name = entry->path().lexically_relative(folder_ / out).string();
      if (name == records_name || name.starts_with(".lockstep-predict-")) {
        if (entry->is_directory()) entry.disable_recursion_pending();
        continue;
      }
      struct stat info {};
      if (!entry->is_regular_file() || ::stat(entry->path().c_str(), &info) != 0) continue;
      all[name] = {info.st_ino, read_file(entry->path(), data_bytes)};
    }
    return all;
  }

  const std::vector<std::string> words_;
  const std::filesystem::path folder_;
  double begun_s_ = 0, seconds_ = 0;
  std::map<std::string, ino_t> seen_;
};

}  // namespace lockstep::testing
