// Runs of the faulty plugin: what they say, how long they take, and that nothing survives them.
#pragma once

#include "checkout_paths.h"
#include "core/base/clock.h"
#include "fakes/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace lockstep {

using testing::program;
using testing::ToolProcess;
using testing::ToolResult;
using Words = std::vector<std::string>;

class FailingRun : public ::testing::Test {
 protected:
  ToolResult train(const std::string& faults, const Words& more = {}) {
    return run(train_words(more), faults);
  }
  static Words train_words(const Words& more) {
    Words words{program("lockstep"),
                "train",
                "faulty",
                "--plugin",
                std::string(LOCKSTEP_BUILD_DIR) + "/tests/libfaulty-plugin.so",
                "--devices",
                "cpu:3",
                "stop.steps=12",
                "batch.global=48",
                "checkpoint.every_steps=2",
                "data.threads=1"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--name") == more.end())
      words.insert(words.end(), {"--name", "a"});
    return words;
  }
  ToolResult run(const Words& words, const std::string& faults) {
    const double begin_s = system_clock().now_s();
    std::map<std::string, std::string> variables = environment;
    variables["LOCKSTEP_TEST_FAULTS"] = faults;
    if (once) variables["LOCKSTEP_TEST_ONCE"] = folder.path().string();
    ToolProcess tool(words, folder.path(), variables);
    std::vector<pid_t> ranks;
    std::jthread watcher([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (const pid_t rank : testing::ranks_of(tool.pid()))
          if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    ToolResult result = tool.wait();
    watcher.request_stop();
    watcher.join();
    took_s = system_clock().now_s() - begin_s;
    EXPECT_GE(ranks.size(), 3U);  // and workers that prepared
    for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0) << "rank " << rank << " survived";
    return result;
  }

  TemporaryDirectory folder;
  std::map<std::string, std::string> environment;  // of the tool, besides
  bool once = false;  // faults come once at all, not once in each start
  double took_s = 0;
};

}  // namespace lockstep
