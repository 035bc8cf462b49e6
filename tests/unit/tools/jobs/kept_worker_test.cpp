// What a supervisor believes of a process that says that a copy of it stays.
#include "tools/jobs/process/kept_worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/jobs/process/job_environment.h"
#include "tools/jobs/process/job_process.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace {

constexpr pid_t job = 1'000'001, copy = 1'000'002;  // above all that there are

class KeptWorkerTest : public ::testing::Test {
 protected:
  KeptWorkerTest() {
    std::tie(worker, theirs) = KeptWorker::make();
    worker->began(job, order({"python3", "fit.py", "a", "1"}));
  }
  static JobOrder order(const std::vector<std::string>& command,
                        const std::vector<std::string>& environment = {}) {
    return {.mark = "b:1", .command = command, .environment = environment};
  }
  void say(const std::string& text) {
    ASSERT_EQ(::send(theirs.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    worker->read();
  }
  static std::string stays(pid_t process, pid_t from, const std::vector<std::string>& arguments) {
    return nlohmann::json{{"stays", process}, {"job", from}, {"arguments", arguments}}.dump() +
           "\n";
  }
  std::unique_ptr<KeptWorker> worker;
  UniqueFd theirs;
};

TEST_F(KeptWorkerTest, ServesCommandsThatDifferInTheArgumentsAlone) {
  const std::string text = stays(copy, job, {"a", "1"});
  say(text.substr(0, 10));
  EXPECT_EQ(worker->copy(), 0);
  say(text.substr(10));
  EXPECT_EQ(worker->copy(), copy);
  EXPECT_EQ(worker->program(), (std::vector<std::string>{"python3", "fit.py"}));
  EXPECT_TRUE(worker->serves(order({"python3", "fit.py", "b", "2", "3"})));
  EXPECT_TRUE(worker->serves(order({"python3", "fit.py"})));
  EXPECT_FALSE(worker->serves(order({"python3", "other.py", "a", "1"})));
  EXPECT_FALSE(worker->serves(order({"python3"})));
}

TEST_F(KeptWorkerTest, ServesTheSameEnvironmentButForWhatIsAnAttemptsOwn) {
  worker->began(job, order({"x", "a"}, {"RATE=1", "LOCKSTEP_PARAM_b=1", "LOCKSTEP_OUT=/1"}));
  say(stays(copy, job, {"a"}));
  EXPECT_TRUE(worker->serves(order({"x", "a"}, {"LOCKSTEP_OUT=/2", "RATE=1"})));
  EXPECT_FALSE(worker->serves(order({"x", "a"}, {"RATE=2"})));
  EXPECT_FALSE(worker->serves(order({"x", "a"}, {"RATE=1", "CUDA_VISIBLE_DEVICES=G"})));
}

TEST_F(KeptWorkerTest, BelievesOnlyTheProcessThatWasStarted) {
  say(stays(copy, job + 5, {"a", "1"}));
  EXPECT_EQ(worker->copy(), 0);
  EXPECT_EQ(worker->fd(), -1) << "and hears it no more";
}

TEST_F(KeptWorkerTest, BelievesNoNumberThatOnlyEndsInItsOwn) {
  nlohmann::json said = nlohmann::json::parse(stays(copy, job, {"a", "1"}));
  said["job"] = (std::int64_t{1} << 32) + job;
  say(said.dump() + "\n");
  EXPECT_EQ(worker->copy(), 0);
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(KeptWorkerTest, BelievesOnlyArgumentsThatEndTheCommand) {
  say(stays(copy, job, {"fit.py", "a"}));
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(KeptWorkerTest, NeedsAProgramBeforeTheArguments) {
  say(stays(copy, job, {"python3", "fit.py", "a", "1"}));
  EXPECT_EQ(worker->fd(), -1);
}

class StayingWorkerTest : public KeptWorkerTest {
 protected:
  static std::string ended(const nlohmann::json& code, pid_t process = job) {
    return nlohmann::json{{"stays", process}, {"job", job}, {"arguments", {"a"}}, {"ended", code}}
               .dump() +
           "\n";
  }
  StayingWorkerTest() { worker->began(job, order({"fit", "a"})); }
};

TEST_F(StayingWorkerTest, TellsWithWhichCodeItsJobHasEnded) {
  EXPECT_FALSE(worker->ended());
  say(ended(3));
  EXPECT_EQ(worker->ended(), 3);
  EXPECT_EQ(worker->copy(), job);
  EXPECT_TRUE(worker->serves(order({"fit", "b"})));
}

TEST_F(StayingWorkerTest, HasNotEndedBeforeItHasBegun) {
  say(ended(0));
  const UniqueFd output(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(worker->give(order({"fit", "a"}), output.get()));
  EXPECT_FALSE(worker->ended());
  say(ended(0));
  EXPECT_FALSE(worker->ended()) << "it has not said that it took the job";
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(StayingWorkerTest, IsNotBelievedWithoutACodeThatCanBe) {
  for (const nlohmann::json& code :
       {nlohmann::json(256), nlohmann::json(-1), nlohmann::json("0"), nlohmann::json(),
        nlohmann::json(0.5), nlohmann::json(std::int64_t{1} << 32)}) {
    SCOPED_TRACE(code.dump());
    std::tie(worker, theirs) = KeptWorker::make();
    worker->began(job, order({"fit", "a"}));
    say(ended(code));
    EXPECT_FALSE(worker->ended());
    EXPECT_EQ(worker->fd(), -1);
  }
}

TEST_F(StayingWorkerTest, ACopyHasNotEnded) {
  say(ended(0, copy));
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(StayingWorkerTest, HasEndedAlsoIfItIsGoneSince) {
  const std::string text = ended(0);
  ASSERT_EQ(::send(theirs.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  theirs.reset();
  worker->read();
  EXPECT_EQ(worker->ended(), 0) << "whatever ended it afterwards";
  EXPECT_EQ(worker->copy(), 0);
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(KeptWorkerTest, GivesWhatIsAnAttemptsOwnAlsoWhereItIsTheSame) {
  const std::vector<std::string> same = {"LOCKSTEP_OUT=/out", "LOCKSTEP_PARAM_b=1",
                                         "LOCKSTEP_DEVICE=cpu", "RATE=1"};
  worker->began(job, order({"x", "a"}, same));
  say(stays(copy, job, {"a"}));
  const UniqueFd output(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(worker->give(order({"x", "b"}, same), output.get()));
  char text[1 << 12];
  const ssize_t size = ::recv(theirs.get(), text, sizeof text, 0);
  ASSERT_GT(size, 0);
  EXPECT_EQ(nlohmann::json::parse(text, text + size).at("environment"),
            nlohmann::json(
                {{"LOCKSTEP_OUT", "/out"}, {"LOCKSTEP_PARAM_b", "1"}, {"LOCKSTEP_DEVICE", "cpu"}}));
}

// A child that ends by SIGTERM unless it was killed before.
class ChildOfKeptWorkerTest : public KeptWorkerTest {
 protected:
  ChildOfKeptWorkerTest() : child(::fork()) {
    if (child == 0)
      for (;;) ::pause();
    say(stays(child, job, {"a", "1"}));
  }
  int ending_signal() const {
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  pid_t child;
};

TEST_F(ChildOfKeptWorkerTest, ACopyThatWaitsIsEnded) {
  worker->dismiss();
  EXPECT_EQ(ending_signal(), SIGKILL);
}

TEST_F(ChildOfKeptWorkerTest, WhatHasTheNumberOfACopyThatIsGoneIsNot) {
  ::shutdown(theirs.get(), SHUT_RDWR);  // the child has this end too
  worker->dismiss();
  EXPECT_EQ(ending_signal(), SIGTERM);
}

TEST_F(ChildOfKeptWorkerTest, NeitherIsWhatIsKnownToBeNoCopy) {
  worker->dismiss({child});
  EXPECT_EQ(ending_signal(), SIGTERM);
}

TEST_F(KeptWorkerTest, HearsNoNonsense) {
  say("\xff\x01 {]\n");
  EXPECT_EQ(worker->fd(), -1);
}

TEST_F(KeptWorkerTest, HasNoCopyOnceNobodyHasTheOtherEnd) {
  say(stays(copy, job, {"a", "1"}));
  theirs.reset();
  worker->read();
  EXPECT_EQ(worker->copy(), 0);
  EXPECT_EQ(worker->fd(), -1);
}

TEST(Marks, OfOneBatchHaveOneLength) {
  EXPECT_EQ(attempt_mark("b", 7), "b:0000000000007");
  EXPECT_EQ(attempt_mark("b", 1'234'567'890'123), "b:1234567890123");
  EXPECT_EQ(worker_mark("b", "0123456789ab").size(), attempt_mark("b", 7).size());
}

TEST(AttemptVariables, AreThoseThatDifferFromAttemptToAttempt) {
  EXPECT_TRUE(is_of_attempt("LOCKSTEP_OUT"));
  EXPECT_TRUE(is_of_attempt("LOCKSTEP_PARAM_lr"));
  EXPECT_TRUE(is_of_attempt("LOCKSTEP_ATTEMPT"));
  EXPECT_FALSE(is_of_attempt("LOCKSTEP_DEVICE"));
  EXPECT_FALSE(is_of_attempt("OMP_NUM_THREADS"));
}

}  // namespace
}  // namespace lockstep
