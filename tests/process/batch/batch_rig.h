// A batch of the real tool in a folder of its own, and what its ledger says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "fakes/tool.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {

class BatchRig : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  // lockstep batch run --name b FLAGS -- COMMAND
  static Words run_words(Words flags, const Words& command, const std::string& name = "b") {
    Words words{"batch", "run", "--name", name};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  testing::ToolResult run(const Words& words) {
    return testing::run_tool(words, folder.path(), environment);
  }
  testing::ToolResult run_jobs(const Words& flags, const Words& command) {
    return run(run_words(flags, command));
  }
  testing::ToolProcess begin(Words words, const std::string& below = "") {
    words.insert(words.begin(), testing::program("lockstep"));
    return testing::ToolProcess(words, folder.path() / below, environment);
  }

  std::filesystem::path batch() const { return folder.path() / "runs/b"; }
  std::string text(const std::string& name) const {
    const std::filesystem::path file = folder.path() / name;
    return std::filesystem::exists(file) ? read_file(file) : "";
  }
  Ledger ledger() const { return Ledger::open_to_read(batch() / "ledger.sqlite"); }
  std::int64_t count(const std::string& sql) const {
    Ledger opened = ledger();
    Statement row(opened.database(), sql);
    return row.step() ? row.integer(0) : -1;
  }
  // Waits until something is true of the ledger, which may not be there yet. False: not within 20
  // s.
  static bool comes_true(const std::function<bool()>& is_true) {
    for (int i = 0; i < 1000; ++i) {
      try {
        if (is_true()) return true;
      } catch (const Error&) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  std::int64_t jobs_in(const std::string& state) const {
    return count("SELECT count(*) FROM job WHERE state = '" + state + "'");
  }
  std::vector<pid_t> survivors() const {
    std::vector<pid_t> pids;
    for (const MarkedProcess& process : processes_marked(ledger().fact("id") + ":"))
      pids.push_back(process.pid);
    return pids;
  }

  // False after ten seconds.
  static bool comes(const std::function<bool()>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  TemporaryDirectory folder;
  std::map<std::string, std::string> environment;
};

}  // namespace lockstep
