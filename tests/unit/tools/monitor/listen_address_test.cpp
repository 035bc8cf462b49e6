// Addresses to listen at.
#include "tools/monitor/serve/listen_address.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

TEST(ListenAddress, IsWhatIsNamedAndTheDefaultForTheRest) {
  const struct {
    const char *text, *address;
  } cases[] = {
      {"", "127.0.0.1:9400"},           {"9401", "127.0.0.1:9401"},
      {":9401", "127.0.0.1:9401"},      {"127.0.0.2", "127.0.0.2:9400"},
      {"127.0.0.1:0", "127.0.0.1:0"},   {"localhost", "127.0.0.1:9400"},
      {"localhost:80", "127.0.0.1:80"}, {"[::1]:9401", "[::1]:9401"},
      {"[::1]", "[::1]:9400"},          {"0.0.0.0:65535", "0.0.0.0:65535"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(parse_listen_address(one.text).text(), one.address) << one.text;
}

TEST(ListenAddress, KnowsWhatOnlyThisMachineReaches) {
  for (const char* text : {"", "127.1.2.3:9400", "[::1]:1", "localhost"})
    EXPECT_TRUE(parse_listen_address(text).loopback()) << text;
  for (const char* text : {"0.0.0.0", "192.168.0.1:9400", "[::]:9400", "[fe80::1]:9400"})
    EXPECT_FALSE(parse_listen_address(text).loopback()) << text;
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const char* text : {"nowhere", "127.0.0.1:", "127.0.0.1:http", "127.0.0:9400", "::1", "[::1",
                           "[::1]9400", "[127.0.0.1]:1", ":", "[::1]:", "-1", "127.0.0.1:+5", " ",
                           "http://127.0.0.1:9400", "127.0.0.1:9400/metrics", "example.org:80"})
    EXPECT_NE(error_of([&] { parse_listen_address(text); }).find("is not an address"),
              std::string::npos)
        << text;
  for (const char* text : {"65536", "127.0.0.1:70000", "99999999999999999999"})
    EXPECT_NE(error_of([&] { parse_listen_address(text); }).find("port must be at most 65535"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace lockstep
