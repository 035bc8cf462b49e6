// `lockstep devices` over fake NVIDIA libraries.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checkout_paths.h"

#include "fakes/tool.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ToolResult;

class Devices : public ::testing::Test {
 protected:
  ToolResult devices(std::vector<std::string> words, std::map<std::string, std::string> environment,
                     const json& machine = {}) {
    if (!machine.is_null()) {
      write_file_atomic(folder_.path() / "gpus.json", machine.dump());
      environment["FAKE_NVML"] = folder_.path() / "gpus.json";
    }
    const std::string library = old_ ? "/tests/libfake-nvml-390.so" : "/tests/libfake-nvml.so";
    environment.emplace("LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR + library);
    environment.emplace("LOCKSTEP_CUDA_DRIVER", LOCKSTEP_BUILD_DIR "/tests/libfake-cuda-driver.so");
    words.insert(words.begin(), "devices");
    return testing::run_tool(words, folder_.path(), environment);
  }
  static json gpu(int index, const std::string& name) {
    return {{"uuid", "GPU-0000000" + std::to_string(index) + "-0000-0000-0000-000000000000"},
            {"name", name},
            {"bus", index + 1},
            {"major", 8},
            {"minor_version", 0},
            {"minor_number", index},
            {"memory", 16106127360},
            {"power_limit", 60000},
            {"default_power_limit", 70000},
            {"compute_mode", 3},
            {"nvlink_version", 6},
            {"nvlinks", {"switch", "switch"}}};
  }
  TemporaryDirectory folder_;
  bool old_ = false;
};

TEST_F(Devices, SayWithoutADriverWhyAndShowTheCpu) {
  const ToolResult none = devices({}, {{"LOCKSTEP_NVML", "/nonexistent/libnvidia-ml.so.1"}});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_TRUE(none.out.starts_with("no GPU: LOCKSTEP_NVML: /nonexistent/libnvidia-ml.so.1"))
      << none.out;
  EXPECT_NE(none.out.find("\nCPU: "), std::string::npos) << none.out;
}

TEST_F(Devices, SayThatTheDriverDoesNotAnswerOrIsTooOld) {
  const ToolResult mismatch = devices({}, {}, {{"init", 18}});
  EXPECT_EQ(mismatch.code, 0) << mismatch.err;
  EXPECT_TRUE(mismatch.out.starts_with(
      "no GPU: the NVIDIA driver does not answer: Driver/library version mismatch\n"))
      << mismatch.out;
  const ToolResult old = devices(
      {}, {},
      {{"driver", "535.54.03"}, {"cuda", 12020}, {"gpus", json::array({gpu(0, "NVIDIA A100")})}});
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_NE(old.out.find("note: NVIDIA driver 535.54.03 offers CUDA 12.2, but this build needs "),
            std::string::npos)
      << old.out;
}

TEST_F(Devices, SayThatTheDriverHangs) {
  json hanging = gpu(0, "NVIDIA A100");
  hanging["slow_ms"] = {{"nvmlDeviceGetName", 20000}};
  const ToolResult result =
      devices({}, {{"LOCKSTEP_DRIVER_TIMEOUT", "1s"}}, {{"gpus", json::array({hanging})}});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("error: the NVIDIA driver does not answer\n\nhint: nvidia-smi waits"),
            std::string::npos)
      << result.err;
}

TEST_F(Devices, SayThatTheDiskIsFull) {
  for (const std::string words : {"devices", "devices --json", "--version"}) {
    testing::ToolProcess tool(
        {"/bin/sh", "-c", testing::program_in_shell("lockstep") + " " + words + " >/dev/full"},
        folder_.path(), {{"LOCKSTEP_NVML", "/nonexistent/libnvidia-ml.so.1"}});
    const ToolResult full = tool.wait();
    EXPECT_NE(full.code, 0) << words;
    EXPECT_NE(full.err.find("standard output: No space left on device"), std::string::npos)
        << full.err;
  }
}

TEST_F(Devices, GiveAllNumbersAsJson) {
  const json machine{{"gpus", {gpu(0, "NVIDIA A100"), gpu(1, "NVIDIA A100")}},
                     {"topology", {{"0-1", 40}}}};
  const ToolResult result = devices({"--json"}, {{"CUDA_VISIBLE_DEVICES", "1"}}, machine);
  ASSERT_EQ(result.code, 0) << result.err;
  const json list = json::parse(result.out);
  ASSERT_EQ(list["gpus"].size(), 2u);
  const json& second = list["gpus"][1];
  EXPECT_EQ(second["nvml_index"], 1);
  EXPECT_EQ(second["cuda_ordinal"], 0);
  EXPECT_EQ(second["device_file"], "/dev/nvidia1");
  EXPECT_EQ(second["pci_bus_id"], "0000:02:00.0");
  EXPECT_EQ(second["power_limit_w"], 60.0);
  EXPECT_EQ(second["default_power_limit_w"], 70.0);
  EXPECT_EQ(second["compute_mode"], "exclusive process");
  EXPECT_EQ(second["mig"], false);
  EXPECT_EQ(list["gpus"][0]["cuda_visible"], false);
  EXPECT_EQ(list["links"][0]["nvlinks"], 2);
  EXPECT_EQ(list["links"][0]["nvlink_version"], "4.0");
  EXPECT_EQ(list["links"][0]["nvswitch"], true);
  EXPECT_EQ(list["links"][0]["pcie"], "through the CPU of both");
  EXPECT_EQ(list["notes"][0], "CUDA_VISIBLE_DEVICES=1 hides 1 of 2 GPUs");
}

TEST_F(Devices, TakeCudasOrderOfUnlikeGpusFromTheDriver) {
  const json machine{{"gpus", {gpu(0, "Tesla T4"), gpu(1, "NVIDIA A100")}}};
  const std::string uuids =
      "00000001-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000000";
  const ToolResult asked = devices({"--json"}, {{"FAKE_CUDA", uuids}}, machine);
  EXPECT_EQ(json::parse(asked.out)["gpus"][0]["cuda_ordinal"], 1) << asked.out;
  const ToolResult silent = devices({"--json"}, {{"FAKE_CUDA", "fail"}}, machine);
  EXPECT_EQ(silent.code, 0);
  EXPECT_TRUE(json::parse(silent.out)["gpus"][0]["cuda_visible"].is_null()) << silent.out;
}

TEST_F(Devices, ShowWhatAnOldDriverKnowsAndLeaveTheRestOpen) {
  old_ = true;
  json machine{{"gpus", {gpu(0, "NVIDIA V100"), gpu(1, "NVIDIA V100")}}};
  machine["gpus"][0]["nvlinks"] = {2, 2, nullptr};  // by bus
  machine["gpus"][1]["nvlinks"] = {1, 1};
  const ToolResult result = devices({"--json"}, {}, machine);
  ASSERT_EQ(result.code, 0) << result.err;
  const json list = json::parse(result.out);
  EXPECT_EQ(list["gpus"][0]["memory_bytes"], 16106127360);
  EXPECT_TRUE(list["gpus"][0]["mig"].is_null());
  EXPECT_EQ(list["links"][0]["nvlink_version"], "4.0");
  EXPECT_TRUE(list["cuda"].is_null());
  EXPECT_EQ(list["links"][0]["nvlinks"], 2);
}

TEST_F(Devices, ListOnlyWhatARunWouldUseIfAsked) {
  const json machine{{"gpus", {gpu(0, "NVIDIA A100"), gpu(1, "NVIDIA A100")}}};
  const ToolResult one = devices({"--devices", "1"}, {}, machine);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(one.out.starts_with("cuda:1 (NVIDIA A100)")) << one.out;
  EXPECT_EQ(devices({"--devices", "5"}, {}, machine).code, 2);
}

}  // namespace
}  // namespace lockstep
