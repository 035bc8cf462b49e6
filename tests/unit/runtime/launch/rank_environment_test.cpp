#include "runtime/launch/ranks/rank_environment.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

using Variables = std::map<std::string, std::string>;

LaunchSpec spec_of(DeviceKind kind) {
  LaunchSpec spec;
  for (int i = 0; i < 3; ++i) {
    spec.devices.push_back({.kind = kind, .index = i, .threads = 5});
    if (kind == DeviceKind::cuda) spec.devices.back().uuid = "GPU-" + std::to_string(i);
  }
  return spec;
}

TEST(RankEnvironment, FollowsTorchrunsContract) {
  const auto env = rank_environment(spec_of(DeviceKind::cpu), 2, {.port = 4000}, {});
  EXPECT_EQ(env, (Variables{{"RANK", "2"},
                            {"LOCAL_RANK", "2"},
                            {"WORLD_SIZE", "3"},
                            {"LOCAL_WORLD_SIZE", "3"},
                            {"GROUP_RANK", "0"},
                            {"MASTER_ADDR", "127.0.0.1"},
                            {"MASTER_PORT", "4000"},
                            {"CUDA_VISIBLE_DEVICES", ""},
                            {"OMP_NUM_THREADS", "5"},
                            {"OMP_WAIT_POLICY", "PASSIVE"}}));
}

TEST(RankEnvironment, LeavesItToTheUserHowThreadsWait) {
  const LaunchSpec spec = spec_of(DeviceKind::cpu);
  EXPECT_EQ(rank_environment(spec, 0, {}, {{"OMP_WAIT_POLICY", "ACTIVE"}}).at("OMP_WAIT_POLICY"),
            "ACTIVE");
  EXPECT_FALSE(
      rank_environment(spec, 0, {}, {{"GOMP_SPINCOUNT", "100"}}).contains("OMP_WAIT_POLICY"));
  EXPECT_FALSE(rank_environment(spec_of(DeviceKind::cuda), 0, {}, {}).contains("OMP_WAIT_POLICY"));
}

TEST(RankEnvironment, ShowsARankItsGpuAlone) {
  const auto env = rank_environment(spec_of(DeviceKind::cuda), 1, {}, {});
  EXPECT_EQ(env.at("CUDA_VISIBLE_DEVICES"), "GPU-1");
  EXPECT_EQ(env.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  EXPECT_EQ(env.at("NCCL_SOCKET_IFNAME"), "lo");
  EXPECT_FALSE(env.contains("OMP_NUM_THREADS"));
}

TEST(RankEnvironment, ShowsAllGpusOfTheRunInRankOrderOnRequest) {
  LaunchSpec spec = spec_of(DeviceKind::cuda);
  spec.one_gpu_visible = false;
  const auto env = rank_environment(spec, 1, {}, {{"CUDA_VISIBLE_DEVICES", "7"}});
  EXPECT_EQ(env.at("CUDA_VISIBLE_DEVICES"), "GPU-0,GPU-1,GPU-2");
  EXPECT_EQ(env.at("LOCAL_RANK"), "1");
}

TEST(RankEnvironment, NamesGpusByTheNumbersThatTheCallerKnows) {
  LaunchSpec spec = spec_of(DeviceKind::cuda);
  spec.one_gpu_visible = false;
  spec.gpu_names = {"2", "0", "1"};
  EXPECT_EQ(rank_environment(spec, 1, {}, {}).at("CUDA_VISIBLE_DEVICES"), "2,0,1");
}

// What Lightning, Accelerate and torch itself look for.
TEST(RankEnvironment, HasAllOfTorchrunsVariablesWhereItStandsForTorchrun) {
  LaunchSpec spec = spec_of(DeviceKind::cuda);
  spec.log_dir = "/logs";
  spec.run_id = "run";
  spec.restart = 1;
  spec.most_restarts = 3;
  const auto env =
      rank_environment(spec, 2, {.port = 4000}, {{"TORCHELASTIC_AGENT", "of another"}});
  const Variables expected{{"GROUP_WORLD_SIZE", "1"},
                           {"ROLE_NAME", "default"},
                           {"ROLE_RANK", "2"},
                           {"ROLE_WORLD_SIZE", "3"},
                           {"TORCHELASTIC_RUN_ID", "run"},
                           {"TORCHELASTIC_RESTART_COUNT", "1"},
                           {"TORCHELASTIC_MAX_RESTARTS", "3"},
                           {"TORCHELASTIC_ERROR_FILE", "/logs/rank2.error.json"},
                           {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                           {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                           {"PYTHONUNBUFFERED", "1"},
                           {"OMP_NUM_THREADS", "5"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(env.at(name), value) << name;
  EXPECT_FALSE(env.contains("TORCHELASTIC_AGENT"));
  const auto mine =
      rank_environment(spec, 2, {}, {{"PYTHONUNBUFFERED", ""}, {"OMP_NUM_THREADS", "7"}});
  EXPECT_EQ(mine.at("PYTHONUNBUFFERED"), "");
  EXPECT_EQ(mine.at("OMP_NUM_THREADS"), "7");
}

TEST(RankEnvironment, KeepsWhatTheUserSet) {
  const Variables mine = {{"OMP_NUM_THREADS", "2"}, {"NCCL_SOCKET_IFNAME", "eth0"}, {"HOME", "/h"}};
  EXPECT_EQ(rank_environment(spec_of(DeviceKind::cpu), 0, {}, mine).at("OMP_NUM_THREADS"), "2");
  const auto env = rank_environment(spec_of(DeviceKind::cuda), 0, {}, mine);
  EXPECT_EQ(env.at("NCCL_SOCKET_IFNAME"), "eth0");
  EXPECT_EQ(env.at("HOME"), "/h");
}

TEST(RankEnvironment, LetsTheCallerAddButNotChangeTheRank) {
  LaunchSpec spec = spec_of(DeviceKind::cpu);
  spec.environment = {{"OMP_NUM_THREADS", "1"}, {"HOME", "/other"}, {"RANK", "9"}};
  const auto env = rank_environment(spec, 0, {}, {{"HOME", "/h"}});
  EXPECT_EQ(env.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(env.at("HOME"), "/other");
  EXPECT_EQ(env.at("RANK"), "0");
}

TEST(RankEnvironment, ForgetsTheLaunchersAroundIt) {
  const auto env = rank_environment(spec_of(DeviceKind::cpu), 1, {},
                                    {{"TORCHELASTIC_RUN_ID", "x"},
                                     {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                     {"LOCKSTEP_STORE_FD", "3"},
                                     {"LOCKSTEP_EVENTS_FD", "4"},
                                     {"LOCKSTEP_START", "1 2"},
                                     {"RANK", "17"}});
  EXPECT_EQ(env.size(), 10u);
  EXPECT_EQ(env.at("RANK"), "1");
}

TEST(RankEnvironment, NamesTheStoreAndTheEventsToAll) {
  const Rendezvous rendezvous{.port = 1, .store_fd = 7, .events_fd = 8};
  for (const int rank : {0, 1}) {
    const auto env = rank_environment(spec_of(DeviceKind::cpu), rank, rendezvous, {});
    EXPECT_EQ(env.at("LOCKSTEP_STORE_FD"), "7");
    EXPECT_EQ(env.at("LOCKSTEP_EVENTS_FD"), "8");
  }
}

}  // namespace
}  // namespace lockstep
