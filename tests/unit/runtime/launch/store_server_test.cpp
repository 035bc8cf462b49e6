// The launcher's store, as ranks use it, and what is no rank.
#include "runtime/launch/world/store_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/process/pass_fd.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "runtime/launch/world/store_client.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoreServerTest : public ::testing::Test {
 protected:
  // What a rank says that knows the door and not the language; whether the store hangs up on it.
  bool hangs_up_on(const std::string& bytes) {
    auto [own, theirs] = socket_pair();
    send_fd(server->door(), theirs.get());
    theirs.reset();
    EXPECT_EQ(::send(own.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    char byte;
    return ::recv(own.get(), &byte, 1, 0) <= 0;
  }

  std::optional<StoreServer> server{std::in_place};
};

TEST_F(StoreServerTest, KeepsWhatRanksLeave) {
  StoreClient a(server->door()), b(server->door());
  a.set({{"key", "value"}, {"empty", ""}});
  EXPECT_THAT(b.get({"empty", "key"}, 0), ElementsAre("", "value"));
  EXPECT_EQ(b.count(), 2);
  EXPECT_TRUE(b.check({"key", "empty"}));
  EXPECT_FALSE(b.check({"key", "none"}));
  b.append("key", std::string("\0more", 5));
  EXPECT_THAT(a.get({"key"}, 0), ElementsAre(std::string("value\0more", 10)));
  EXPECT_TRUE(a.remove("key"));
  EXPECT_FALSE(b.remove("key"));
  EXPECT_FALSE(b.check({"key"}));
}

TEST_F(StoreServerTest, AddsAndComparesAsTheStoreOfTorchDoes) {
  StoreClient client(server->door());
  EXPECT_EQ(client.add("sum", 5), 5);
  EXPECT_EQ(client.add("sum", -7), -2);
  EXPECT_THAT(client.get({"sum"}, 0), ElementsAre("-2"));
  EXPECT_EQ(client.compare_set("key", "old", "new"), "old");
  EXPECT_FALSE(client.check({"key"}));
  EXPECT_EQ(client.compare_set("key", "", "first"), "first");
  EXPECT_EQ(client.compare_set("key", "other", "second"), "first");
  EXPECT_EQ(client.compare_set("key", "first", "second"), "second");
}

TEST_F(StoreServerTest, RefusesToAddToWhatIsNoNumber) {
  StoreClient client(server->door());
  client.set({{"word", "x"}, {"most", "9223372036854775807"}});
  for (const char* key : {"word", "most"}) {
    try {
      client.add(key, 1);
      ADD_FAILURE() << key;
    } catch (const StoreFailed& error) {
      EXPECT_THAT(error.what(), HasSubstr(cat("the value of ", key)));
    }
  }
  EXPECT_EQ(client.add("most", 0), 9223372036854775807);
}

TEST_F(StoreServerTest, WaitsUntilAllKeysAreThere) {
  auto waiting = std::async(std::launch::async, [&] {
    return StoreClient(server->door()).get({"a", "b"}, 0);
  });
  StoreClient client(server->door());
  client.set({{"a", "1"}});
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  client.set({{"b", "2"}});
  EXPECT_THAT(waiting.get(), ElementsAre("1", "2"));
}

TEST_F(StoreServerTest, AWaitEndsAtItsTimeAndTheConnectionStaysGood) {
  StoreClient client(server->door());
  EXPECT_THROW(client.wait({"never"}, 20), StoreTimedOut);
  try {
    client.get({"never"}, 20);
    ADD_FAILURE();
  } catch (const StoreTimedOut& error) {
    EXPECT_THAT(error.what(), HasSubstr("no rank has left never"));
  }
  client.set({{"never", "late"}});
  EXPECT_THAT(client.get({"never"}, 20), ElementsAre("late"));
}

TEST_F(StoreServerTest, ItsEndIsToldToThoseWhoWait) {
  StoreClient client(server->door());
  client.check({});  // it is in
  auto waiting = std::async(std::launch::async, [&] { client.wait({"never"}, 0); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  server.reset();
  EXPECT_THROW(waiting.get(), StoreFailed);
  EXPECT_THROW(client.count(), StoreFailed);
}

TEST_F(StoreServerTest, TakesValuesOfManyMebibytes) {
  StoreClient client(server->door());
  const std::string large(std::size_t{20} << 20, 'x');
  client.set({{"large", large}});
  EXPECT_EQ(client.get({"large"}, 0).at(0), large);
  EXPECT_EQ(StoreClient(server->door()).get({"large", "large"}, 0).at(1), large);
}

TEST_F(StoreServerTest, AnAnswerThatWouldBeTooLongIsRefused) {
  StoreClient client(server->door());
  client.set({{"half", std::string(most_message_bytes / 2, 'x')}});
  try {
    client.get({"half", "half", "half"}, 0);
    ADD_FAILURE();
  } catch (const StoreFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("must be at most 64 MiB"));
  }
  EXPECT_EQ(client.count(), 1);
}

TEST_F(StoreServerTest, HangsUpOnWhatIsNoRequestAndServesTheOthers) {
  StoreClient client(server->door());
  client.set({{"key", "value"}});
  EXPECT_TRUE(hangs_up_on(std::string(64, '\xff')));
  EXPECT_TRUE(hangs_up_on(MessageWriter().number(99).framed()));
  EXPECT_TRUE(hangs_up_on(MessageWriter().number(-1).framed()));
  EXPECT_TRUE(hangs_up_on(MessageWriter().framed()));
  const auto set = static_cast<std::int64_t>(StoreRequest::set);
  const auto count = static_cast<std::int64_t>(StoreRequest::count);
  EXPECT_TRUE(hangs_up_on(MessageWriter().number(set).number(3).text("key").framed()));
  EXPECT_TRUE(hangs_up_on(MessageWriter().number(set).number(1).number(1 << 30).framed()));
  EXPECT_TRUE(hangs_up_on(MessageWriter().number(count).number(1).framed()));
  EXPECT_EQ(::send(server->door(), "xyz", 3, MSG_NOSIGNAL), 3);  // no connection
  EXPECT_THAT(client.get({"key"}, 0), ElementsAre("value"));
  EXPECT_THAT(StoreClient(server->door()).get({"key"}, 0), ElementsAre("value"));
}

// Ranks share it: the connections that there are stay good.
TEST_F(StoreServerTest, ARankThatShutsTheDoorLeavesTheOthersTheirConnections) {
  StoreClient client(server->door());
  client.set({{"key", "value"}});
  ASSERT_EQ(::shutdown(server->door(), SHUT_RDWR), 0);
  EXPECT_THAT(client.get({"key"}, 0), ElementsAre("value"));
  EXPECT_THROW(StoreClient(server->door()), StoreFailed);
  EXPECT_EQ(client.count(), 1);
}

TEST_F(StoreServerTest, HasNoAddress) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(server->door(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(address.sun_family, AF_UNIX);
  EXPECT_EQ(size, sizeof address.sun_family);  // unnamed
}

TEST_F(StoreServerTest, ARankTakesItsDoorOutOfTheEnvironment) {
  const int copy = dup(server->door());
  setenv("LOCKSTEP_STORE_FD", cat(copy).c_str(), 1);
  EXPECT_EQ(take_store_door(), copy);
  EXPECT_EQ(getenv("LOCKSTEP_STORE_FD"), nullptr);
  EXPECT_NE(fcntl(copy, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(take_store_door(), -1);
  close(copy);
  for (const std::string& wrong : {cat(copy), std::string("x"), std::string("-1"), std::string()}) {
    setenv("LOCKSTEP_STORE_FD", wrong.c_str(), 1);
    EXPECT_THAT(error_of([] { take_store_door(); }), HasSubstr("must be an open socket"));
  }
  unsetenv("LOCKSTEP_STORE_FD");
}

}  // namespace
}  // namespace lockstep
