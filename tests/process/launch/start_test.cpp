// What a rank finds when it starts: environment, descriptors, sockets.
#include <fcntl.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "fakes/error_of.h"
#include "launch_fixture.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Start : LaunchFixture {
  std::map<std::string, std::string> variables(int rank) {
    std::istringstream in(log(rank));
    std::map<std::string, std::string> result;
    for (std::string line; std::getline(in, line);) {
      if (const auto equals = line.find('='); equals != line.npos) {
        result[line.substr(0, equals)] = line.substr(equals + 1);
      }
    }
    return result;
  }
};

TEST_F(Start, SetsTorchrunsEnvironment) {
  ASSERT_TRUE(std::holds_alternative<Finished>(run(script(3, "env"))));
  const std::string port = variables(0)["MASTER_PORT"];
  EXPECT_GT(std::stoi(port), 0);
  for (int rank = 0; rank < 3; ++rank) {
    auto env = variables(rank);
    EXPECT_EQ(env["RANK"], cat(rank));
    EXPECT_EQ(env["LOCAL_RANK"], cat(rank));
    EXPECT_EQ(env["WORLD_SIZE"], "3");
    EXPECT_EQ(env["LOCAL_WORLD_SIZE"], "3");
    EXPECT_EQ(env["MASTER_ADDR"], "127.0.0.1");
    EXPECT_EQ(env["MASTER_PORT"], port);
    EXPECT_EQ(env["OMP_NUM_THREADS"], "1");
  }
}

TEST_F(Start, PassesTheStoreAndTheHeartbeatsOnAndNothingElse) {
  const UniqueFd stray(open("/dev/null", O_RDONLY));  // not close-on-exec
  ASSERT_TRUE(stray);
  const LaunchSpec spec =
      script(2,
             "for n in {3..254}; do [ ! -e /proc/$$/fd/$n ] || fds+=$n,; done; echo fds=$fds\n"
             "echo store=$LOCKSTEP_STORE_FD events=$LOCKSTEP_EVENTS_FD\n"
             "echo heartbeats=$LOCKSTEP_HEARTBEAT_FD\n"
             "echo memory=$(readlink /proc/$$/fd/$LOCKSTEP_HEARTBEAT_FD)\n"
             "echo stdin=$(readlink /proc/$$/fd/0)\n"
             "echo socket=$(readlink /proc/$$/fd/$LOCKSTEP_STORE_FD)\n");
  ASSERT_TRUE(std::holds_alternative<Finished>(run(spec)));
  for (const int rank : {0, 1}) {
    auto own = variables(rank);
    EXPECT_THAT(own["socket"], HasSubstr("socket:["));
    EXPECT_THAT(own["memory"], HasSubstr("memfd:"));
    const std::vector<std::string> words = split(own["store"], ' ');
    EXPECT_EQ(own["fds"], own["heartbeats"] + "," + words.at(0) + ",");
    EXPECT_EQ(words.at(1), "events=");
    EXPECT_EQ(own["stdin"], "/dev/null");
  }
}

// The sockets of /proc/net/tcp or tcp6 that listen on this port, as "ADDRESS".
std::vector<std::string> listeners(const std::string& table, int port) {
  std::istringstream in(table);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) {
    char address[64];
    unsigned at = 0, state = 0;
    if (std::sscanf(line.c_str(), " %*d: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x", address, &at, &state) ==
            3 &&
        state == 0x0A && at == static_cast<unsigned>(port)) {
      found.push_back(address);
    }
  }
  return found;
}

TEST_F(Start, ServesTheStoreAtNoPort) {
  const LaunchSpec spec =
      script(1, "cat /proc/net/tcp /proc/net/tcp6; echo MASTER_PORT=$MASTER_PORT");
  ASSERT_TRUE(std::holds_alternative<Finished>(run(spec)));
  const int port = std::stoi(variables(0)["MASTER_PORT"]);
  EXPECT_THAT(listeners(log(0), port), ElementsAre());
}

TEST_F(Start, OnlyChoosesAPortWhereTheProgramListensItself) {
  LaunchSpec spec = script(1, "cat /proc/net/tcp /proc/net/tcp6; env");
  spec.serves_store = false;
  ASSERT_TRUE(std::holds_alternative<Finished>(run(spec)));
  const int port = std::stoi(variables(0)["MASTER_PORT"]);
  EXPECT_GT(port, 0);
  EXPECT_THAT(listeners(log(0), port), ElementsAre());
  EXPECT_FALSE(variables(0).contains("LOCKSTEP_STORE_FD"));
}

TEST_F(Start, ReportsAProgramThatDoesNotExist) {
  LaunchSpec spec = script(2, "");
  spec.argv = {"no-such-program"};
  EXPECT_THAT(
      error_of([&] { run(spec); }),
      AllOf(HasSubstr("cannot start \"no-such-program\": No such file"), HasSubstr("PATH")));
}

TEST_F(Start, ReportsAProgramThatIsNotExecutable) {
  write_file_atomic(dir() / "train.py", "print()\n");
  std::filesystem::permissions(dir() / "train.py", std::filesystem::perms::owner_read);
  LaunchSpec spec = script(2, "");
  spec.argv = {(dir() / "train.py").string()};
  EXPECT_THAT(error_of([&] { run(spec); }),
              AllOf(HasSubstr("Permission denied"), HasSubstr("chmod +x")));
}

TEST_F(Start, ReportsALogThatCannotBeWritten) {
  LaunchSpec spec = script(1, "");
  std::filesystem::create_directories(spec.log_dir / "rank0.log");
  EXPECT_THAT(error_of([&] { run(spec); }), HasSubstr("cannot open the log"));
}

TEST_F(Start, StartsRanksWithDefaultSignalsAndAnEmptyMask) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  ASSERT_TRUE(
      std::holds_alternative<Finished>(run(script(1, "grep -E 'Sig(Blk|Ign)' /proc/$$/status"))));
  signal(SIGPIPE, before);
  std::uint64_t blocked = 1, ignored = 1;
  ASSERT_EQ(std::sscanf(log(0).c_str(), "SigBlk: %lx SigIgn: %lx", &blocked, &ignored), 2)
      << log(0);
  EXPECT_EQ(blocked, 0u);
  const auto bit = [](int number) { return std::uint64_t{1} << (number - 1); };
  EXPECT_EQ(ignored & (bit(SIGPIPE) | bit(SIGINT) | bit(SIGTERM) | bit(SIGUSR1)), 0u);
}

}  // namespace
}  // namespace lockstep
