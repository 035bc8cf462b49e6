#include "runtime/launch/output/output_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "core/base/process/descriptors.h"

namespace lockstep {
namespace {

struct OutputQueueTest : ::testing::Test {
  OutputQueueTest() { signal(SIGPIPE, SIG_IGN); }
  ~OutputQueueTest() override { signal(SIGPIPE, SIG_DFL); }
  std::string read_some() {
    std::string text(1 << 16, '\0');
    const ssize_t got = read(pipe.read.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  Pipe pipe = make_pipe();
};

TEST_F(OutputQueueTest, WritesInOrder) {
  OutputQueue queue(pipe.write.get());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    queue.add(std::to_string(i) + "\n");
    expected += std::to_string(i) + "\n";
  }
  EXPECT_TRUE(queue.wait_s(10));
  EXPECT_EQ(read_some(), expected);
}

TEST_F(OutputQueueTest, NeverWaitsForAReaderAndSaysWhenItIsFull) {
  OutputQueue queue(pipe.write.get());
  const std::string line(1000, 'x');
  std::size_t added = 0;
  for (; !queue.full(); added += line.size()) queue.add(line);
  EXPECT_GT(added, std::size_t{1} << 20);
  EXPECT_FALSE(queue.wait_s(0.01));
  std::size_t got = 0;
  while (got < added) got += read_some().size();
  EXPECT_TRUE(queue.wait_s(10));
  EXPECT_FALSE(queue.full());
  pollfd progress{.fd = queue.progress_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&progress, 1, 10000), 1);
  queue.forget_progress();
  EXPECT_EQ(poll(&progress, 1, 0), 0);
}

TEST_F(OutputQueueTest, DropsWhatNobodyWillRead) {
  OutputQueue queue(pipe.write.get());
  pipe.read.reset();
  queue.add("lost");
  EXPECT_TRUE(queue.wait_s(10));
  for (int i = 0; i < 5000; ++i) queue.add(std::string(1000, 'x'));
  EXPECT_FALSE(queue.full());
}

TEST_F(OutputQueueTest, EndsThoughItsReaderStalls) {
  std::size_t added = 0;
  {
    OutputQueue queue(pipe.write.get());
    for (; !queue.full(); added += 1000) queue.add(std::string(1000, 'x'));
  }
  pipe.read.reset();  // for the thread, which has the pipe still
  SUCCEED();
}

}  // namespace
}  // namespace lockstep
