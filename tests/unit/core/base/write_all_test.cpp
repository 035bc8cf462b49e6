// Bytes that go out whole, also where the descriptor would block.
#include "core/base/files/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "core/base/process/descriptors.h"

namespace lockstep {
namespace {

TEST(WriteAll, WaitsWhereTheDescriptorWouldBlock) {
  Pipe pipe = make_pipe();
  set_nonblocking(pipe.write.get());
  const std::string sent(1'000'000, 'x');  // far more than a pipe holds
  std::string got;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t count; (count = read(pipe.read.get(), buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<std::size_t>(count));
  });
  EXPECT_TRUE(write_all(pipe.write.get(), sent));
  pipe.write.reset();
  reader.join();
  EXPECT_EQ(got, sent);
}

TEST(WriteAll, SaysWhyItCannot) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(write_all(full.get(), "x"));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_TRUE(write_all(full.get(), ""));
}

}  // namespace
}  // namespace lockstep
