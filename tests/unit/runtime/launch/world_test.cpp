#include "runtime/launch/world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::optional<World> world_of(const Variables& variables) {
  return world_from_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// `base` with changes; "-" removes a variable.
Variables with(Variables base, const Variables& changes) {
  for (const auto& [name, value] : changes) {
    if (value == "-") {
      base.erase(name);
    } else {
      base[name] = value;
    }
  }
  return base;
}

std::string error(const Variables& variables) {
  return error_of([&] { world_of(variables); });
}

void expect_world(const Variables& variables, const World& expected) {
  const auto world = world_of(variables);
  ASSERT_TRUE(world);
  EXPECT_EQ(world->rank, expected.rank);
  EXPECT_EQ(world->local_rank, expected.local_rank);
  EXPECT_EQ(world->size, expected.size);
  EXPECT_EQ(world->local_size, expected.local_size);
  EXPECT_EQ(world->master_addr, expected.master_addr);
  EXPECT_EQ(world->source, expected.source);
  if (expected.master_port != 0) {
    EXPECT_EQ(world->master_port, expected.master_port);
  }
}

const Variables torchrun = {{"RANK", "5"},         {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},   {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29400"}};
const Variables slurm = {{"SLURM_PROCID", "5"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NODEID", "1"},
                         {"SLURM_NTASKS", "8"},
                         {"SLURM_STEP_NUM_TASKS", "8"},
                         {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                         {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                         {"SLURM_JOB_NODELIST", "gpu[05-08]"},
                         {"SLURM_JOB_ID", "4711"},
                         {"SLURM_STEP_ID", "0"}};
const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                            {"OMPI_COMM_WORLD_SIZE", "2"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables open_mpi_hosts =
    with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
const Variables mpich = {
    {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

TEST(World, IsAbsentWhereNobodyMadeOne) {
  EXPECT_FALSE(world_of({}));
  EXPECT_FALSE(world_of({{"MASTER_ADDR", "n0"}, {"LOCAL_RANK", "0"}, {"RANK", ""}}));
}

TEST(World, ReadsTorchruns) {
  expect_world(torchrun, {.rank = 5,
                          .local_rank = 1,
                          .size = 8,
                          .local_size = 4,
                          .master_addr = "n0",
                          .master_port = 29400,
                          .source = "torchrun"});
}

TEST(World, PrefersTorchrunsToTheLaunchersAroundIt) {
  Variables all = torchrun;
  for (const auto& more : {slurm, open_mpi, mpich}) all.insert(more.begin(), more.end());
  EXPECT_EQ(world_of(all)->source, "torchrun");
}

TEST(World, NeedsNoMasterForOneRank) {
  expect_world({{"RANK", "0"}, {"WORLD_SIZE", "1"}},
               {.master_addr = "127.0.0.1", .source = "torchrun"});
}

TEST(World, AsksForTheVariableThatTorchrunWouldHaveSet) {
  for (const char* name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_THAT(error(with(torchrun, {{name, "-"}})), HasSubstr(cat(name, " must be set"))) << name;
  }
}

TEST(World, RefusesMalformedNumbers) {
  for (const char* value : {"x", "-1", "1.5", "2 ", "99999999999", "0x1"}) {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"}) {
      EXPECT_THAT(error(with(torchrun, {{name, value}})),
                  HasSubstr(cat(name, " must be a whole number, but is \"", value, "\"")));
    }
    EXPECT_THAT(error(with(slurm, {{"SLURM_PROCID", value}})), HasSubstr("SLURM_PROCID must be"));
  }
  for (const char* port : {"0", "65536"}) {
    EXPECT_THAT(error(with(torchrun, {{"MASTER_PORT", port}})), HasSubstr("from 1 to 65535"));
  }
}

TEST(World, RefusesEveryContradictionAndTakesEverythingElse) {
  for (int size = 0; size <= 4; ++size) {
    for (int rank = 0; rank <= 4; ++rank) {
      for (int local_size = 0; local_size <= 4; ++local_size) {
        for (int local_rank = 0; local_rank <= 4; ++local_rank) {
          const Variables variables = with(torchrun, {{"RANK", cat(rank)},
                                                      {"WORLD_SIZE", cat(size)},
                                                      {"LOCAL_RANK", cat(local_rank)},
                                                      {"LOCAL_WORLD_SIZE", cat(local_size)}});
          const bool good = rank < size && local_rank < local_size && local_size <= size;
          if (good) {
            EXPECT_EQ(world_of(variables)->rank, rank);
          } else {
            EXPECT_THAT(error(variables), HasSubstr("contradicts itself"));
          }
        }
      }
    }
  }
}

TEST(World, ReadsSlurms) {
  expect_world(slurm, {.rank = 5,
                       .local_rank = 1,
                       .size = 8,
                       .local_size = 4,
                       .master_addr = "gpu07",
                       .source = "Slurm"});
}

TEST(World, GivesEveryRankOfASlurmStepTheSamePortAndOtherStepsAnother) {
  std::set<int> ports;
  for (int step = 0; step < 4; ++step) {
    std::set<int> of_step;
    for (int rank = 0; rank < 8; ++rank) {
      of_step.insert(world_of(with(slurm, {{"SLURM_STEP_ID", cat(step)},
                                           {"SLURM_PROCID", cat(rank)},
                                           {"SLURM_LOCALID", cat(rank % 4)},
                                           {"SLURM_NODEID", cat(rank / 4)}}))
                         ->master_port);
    }
    ASSERT_EQ(of_step.size(), 1u);
    ports.insert(*of_step.begin());
  }
  EXPECT_EQ(ports.size(), 4u);
  for (const int port : ports) {
    EXPECT_GE(port, 12000);
    EXPECT_LT(port, 32000);
  }
}

TEST(World, MeetsOnLoopbackWhereSlurmUsesOneHost) {
  expect_world(with(slurm, {{"SLURM_STEP_NODELIST", "gpu07"}, {"SLURM_NODEID", "0"}}),
               {.rank = 5,
                .local_rank = 1,
                .size = 8,
                .local_size = 8,
                .master_addr = "127.0.0.1",
                .source = "Slurm"});
}

TEST(World, TakesTheSizeOfTheStepNotOfTheJob) {
  EXPECT_EQ(world_of(with(slurm, {{"SLURM_NTASKS", "64"}}))->size, 8);
}

TEST(World, CountsTheTasksOfTheSlurmNodeItIsOn) {
  const Variables uneven = with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "6,2"}});
  EXPECT_EQ(world_of(uneven)->local_size, 2);
  EXPECT_EQ(world_of(with(uneven, {{"SLURM_NODEID", "0"}}))->local_size, 6);
  EXPECT_THAT(error(with(uneven, {{"SLURM_NODEID", "2"}})), HasSubstr("SLURM_NODEID is 2"));
  const Variables unknown = with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "-"}});
  EXPECT_EQ(world_of(unknown)->local_size, 4);
  EXPECT_THAT(error(with(unknown, {{"SLURM_STEP_NUM_TASKS", "7"}})),
              HasSubstr("cannot tell how many of 7 tasks"));
}

TEST(World, IsNotMadeByABatchScriptOrAnInteractiveShell) {
  const Variables script = with(
      slurm, {{"SLURM_STEP_ID", "-"}, {"SLURM_STEP_NUM_TASKS", "-"}, {"ENVIRONMENT", "BATCH"}});
  EXPECT_FALSE(world_of(script));
  EXPECT_FALSE(world_of(with(slurm, {{"SLURM_STEP_ID", "4294967290"}})));
  EXPECT_FALSE(world_of(with(slurm, {{"SLURM_STEP_ID", "4294967291"}})));
  EXPECT_FALSE(world_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
  EXPECT_TRUE(world_of(with(slurm, {{"ENVIRONMENT", "BATCH"}})));
  EXPECT_TRUE(world_of(with(slurm, {{"SLURM_STEP_ID", "-"}})));
}

TEST(World, IsMadeByAStepOfOneTask) {
  expect_world({{"SLURM_PROCID", "0"},
                {"SLURM_LOCALID", "0"},
                {"SLURM_NTASKS", "1"},
                {"SLURM_STEP_ID", "3"},
                {"SLURM_JOB_ID", "1"}},
               {.master_addr = "127.0.0.1", .source = "Slurm"});
}

TEST(World, AsksForWhatSlurmDoesNotTell) {
  EXPECT_THAT(error(with(slurm, {{"SLURM_JOB_ID", "-"}})),
              HasSubstr("MASTER_PORT cannot be derived"));
  EXPECT_EQ(world_of(with(slurm, {{"SLURM_JOB_ID", "-"}, {"MASTER_PORT", "7"}}))->master_port, 7);
  EXPECT_THAT(error(with(slurm, {{"SLURM_STEP_NODELIST", "-"}, {"SLURM_JOB_NODELIST", "-"}})),
              HasSubstr("SLURM_STEP_NODELIST or SLURM_JOB_NODELIST must be set"));
  EXPECT_THAT(error(with(slurm, {{"SLURM_STEP_NODELIST", "gpu[7"}})), HasSubstr("malformed list"));
}

TEST(World, LetsTheUserSayWhereTheMasterIs) {
  for (const auto& base : {slurm, open_mpi, mpich}) {
    const auto world = world_of(with(base, {{"MASTER_ADDR", "m"}, {"MASTER_PORT", "4242"}}));
    EXPECT_EQ(world->master_addr, "m");
    EXPECT_EQ(world->master_port, 4242);
  }
}

TEST(World, ReadsOpenMpisOnOneHost) {
  expect_world(with(open_mpi, {{"OMPI_MCA_orte_hnp_uri", "12.0;tcp://10.0.0.7:4000"}}),
               {.rank = 1,
                .local_rank = 1,
                .size = 2,
                .local_size = 2,
                .master_addr = "127.0.0.1",
                .source = "Open MPI"});
}

TEST(World, FindsOpenMpisMasterOverHosts) {
  auto master = [](const char* name, const char* value) {
    return world_of(with(open_mpi_hosts, {{name, value}}))->master_addr;
  };
  EXPECT_EQ(master("OMPI_MCA_orte_hnp_uri", "12.0;tcp://127.0.0.1,10.0.0.7,10.1.0.7:4000"),
            "10.0.0.7");
  EXPECT_EQ(master("PMIX_SERVER_URI41", "prterun-gpu-07-4711@0.0;tcp4://127.0.0.1:4000"), "gpu-07");
  EXPECT_EQ(master("PMIX_NAMESPACE", "prterun-gpu07-4711@1"), "gpu07");
}

TEST(World, AsksForTheMasterThatOpenMpiDoesNotTell) {
  EXPECT_THAT(error(open_mpi_hosts), AllOf(HasSubstr("Open MPI does not tell where rank 0 of 2"),
                                           HasSubstr("MASTER_ADDR")));
  // The address of a daemon on each host is not the master's.
  EXPECT_THAT(error(with(open_mpi_hosts, {{"PMIX_SERVER_URI2", "12.1;tcp4://10.0.0.9:4000"}})),
              HasSubstr("does not tell where"));
}

TEST(World, GivesAllRanksOfAnOpenMpiJobOnePort) {
  const auto zero = with(open_mpi, {{"PMIX_SERVER_URI41", "prterun-a-7@0.0;tcp4://127.0.0.1:1"},
                                    {"OMPI_COMM_WORLD_RANK", "0"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  const auto one = with(open_mpi, {{"PMIX_SERVER_URI41", "prterun-a-7@0.1;tcp4://127.0.0.1:2"}});
  const auto other = with(open_mpi, {{"PMIX_SERVER_URI41", "prterun-a-8@0.1;tcp4://127.0.0.1:2"}});
  EXPECT_EQ(world_of(zero)->master_port, world_of(one)->master_port);
  EXPECT_NE(world_of(other)->master_port, world_of(one)->master_port);
}

TEST(World, PrefersMpirunToTheSlurmStepOfItsDaemons) {
  EXPECT_EQ(world_of(with(slurm, open_mpi))->source, "Open MPI");
  EXPECT_EQ(world_of(with(with(slurm, mpich), {{"MASTER_ADDR", "m"}}))->source, "MPICH");
}

TEST(World, PrefersSlurmWhereSrunSpeaksPmi) {
  EXPECT_EQ(world_of(with(slurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}))->source, "Slurm");
}

TEST(World, ReadsMpichs) {
  const auto local = with(mpich, {{"MPI_LOCALNRANKS", "4"}, {"MPI_LOCALRANKID", "3"}});
  expect_world(local, {.rank = 3,
                       .local_rank = 3,
                       .size = 4,
                       .local_size = 4,
                       .master_addr = "127.0.0.1",
                       .source = "MPICH"});
  EXPECT_THAT(error(mpich), HasSubstr("MPICH does not tell where rank 0 of 4 runs"));
  EXPECT_THAT(error({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}),
              HasSubstr("MPI_LOCALRANKID must be set"));
  EXPECT_EQ(world_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})->master_addr, "127.0.0.1");
}

}  // namespace
}  // namespace lockstep
