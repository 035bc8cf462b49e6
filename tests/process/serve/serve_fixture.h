// `lockstep monitor --serve` over a fake NVML with eight GPUs, for its clients.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "fakes/http_client.h"
#include "fakes/nvml_machine.h"
#include "fakes/tool.h"

namespace lockstep::testing {

inline bool wait_for(double at_most_s, const std::function<bool()>& what) {
  for (const double end_s = system_clock().now_s() + at_most_s; system_clock().now_s() < end_s;) {
    if (what()) return true;
    system_clock().sleep_s(0.05);
  }
  return what();
}

inline bool is_there(const std::string& program) {
  return std::system(cat("command -v ", program, " >/dev/null 2>&1").c_str()) == 0;
}

// A port that nobody has: as long as nobody takes it.
inline int free_port() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

class Serve : public ::testing::Test, public NvmlMachine {
 protected:
  Serve() {
    nlohmann::json gpus = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) gpus.push_back(gpu(i));
    for (const char* fact : {"power", "gpm", "energy"}) gpus[3].erase(fact);
    gpus[3]["name"] = "Tesla <b>T4</b> \"old\"";
    gpus[6]["answers"] = {{"nvmlDeviceGetTemperature", 999}};
    set(gpus);
  }
  ~Serve() override {
    for (const auto& one : started_) {
      kill(-one->pid(), SIGKILL);
      one->wait();
    }
  }
  static nlohmann::json gpu(int index) {
    return NvmlMachine::gpu(
        index, {{"memory", 141LL << 30},
                {"used", (10LL + index) << 30},
                {"power", 1000 * (300 + index)},
                {"power_limit", 700000},
                {"energy", 5000},
                {"temperature", 40 + index},
                {"clock", 1980},
                {"max_clock", 1980},
                {"reasons", index == 1 ? 4 : 0},
                {"gpm", {{"2", 30.0 + index}, {"5", 10.0}, {"10", 20.0}}},
                {"processes",
                 nlohmann::json::array({{{"pid", getpid()}, {"memory", (1LL + index) << 30}}})}});
  }
  // A program that ends with the test, with a folder of its own.
  ToolProcess& start(const std::vector<std::string>& words, const std::string& folder) {
    std::filesystem::create_directory(folder_.path() / folder);
    started_.push_back(std::make_unique<ToolProcess>(words, folder_.path() / folder, environment_));
    return *started_.back();
  }
  // `lockstep monitor --serve` at a free port, which is returned.
  int serve(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {program("lockstep"), "monitor", "--serve", "127.0.0.1:0"});
    ToolProcess& tool = start(words, "tool");
    const std::string before = "the monitor is at http://127.0.0.1:";
    wait_for(20, [&] {
      return std::filesystem::exists(folder_.path() / "tool/stderr.txt") &&
             tool.err().find('\n') != std::string::npos;
    });
    const std::string said = tool.err();
    const std::size_t at = said.find(before);
    if (at == said.npos) ADD_FAILURE() << said;
    return at == said.npos ? 0 : std::atoi(said.c_str() + at + before.size());
  }
  static std::string metrics(int port) { return http_body(http_get(port, "/metrics")); }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }
  static double value_of(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    return at == text.npos ? -1 : std::atof(text.c_str() + at + series.size() + 2);
  }
  // Until rates and activities, which take two samples, are there, and a few more.
  static bool wait_for_samples(int port, int count) {
    return wait_for(
        20, [&] { return value_of(metrics(port), "lockstep_monitor_samples_total") >= count; });
  }
  ToolResult refused(std::vector<std::string> words) {
    words.insert(words.begin(), "monitor");
    return testing::run_tool(words, folder_.path(), environment_);
  }
  std::vector<std::unique_ptr<ToolProcess>> started_;
};

}  // namespace lockstep::testing
