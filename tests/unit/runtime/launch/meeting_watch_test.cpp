// Whether ranks meet, by the sockets of the host.
#include "runtime/launch/watch/meeting_watch.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr const char* table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "4711 1 0000000000000000 100 0 0 10 0\n"
    "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 "
    "4712 1 0000000000000000 20 4 30 10 -1\n"
    "   2: broken\n";

struct Host {
  std::vector<TcpSocket> sockets;
  std::vector<std::uint64_t> inodes;
  bool is_known = true;

  SocketView view() {
    return {.sockets = [this]() -> std::optional<std::vector<TcpSocket>> {
              if (!is_known) return std::nullopt;
              return sockets;
            },
            .inodes_of = [this](pid_t) { return inodes; }};
  }
};

// How long ranks were apart after 20 s of which they spent the second half as `later` says.
double apart_s(Host& host, const std::vector<TcpSocket>& later) {
  MeetingWatch watch(8080, host.view());
  for (double now_s = 100; now_s <= 120; ++now_s) {
    if (now_s == 110) host.sockets = later;
    watch.look({7, 8}, now_s);
  }
  return watch.apart_s();
}

TEST(MeetingWatch, ReadsTheTableOfTheKernel) {
  const std::vector<TcpSocket> sockets = tcp_sockets(table);
  ASSERT_EQ(sockets.size(), 2U);
  EXPECT_EQ(sockets[0].local_port, 8080);
  EXPECT_TRUE(sockets[0].listens);
  EXPECT_EQ(sockets[0].inode, 4711U);
  EXPECT_EQ(sockets[1].remote_port, 8080);
  EXPECT_FALSE(sockets[1].listens);
  EXPECT_TRUE(tcp_sockets("").empty());
}

TEST(MeetingWatch, RanksThatNobodySeesMeetAreApart) {
  Host host;
  EXPECT_EQ(apart_s(host, {}), 20);
  host.inodes = {4711};
  EXPECT_EQ(apart_s(host, {{.local_port = 50000, .remote_port = 443, .inode = 4711}}), 20);
  EXPECT_EQ(apart_s(host, {{.local_port = 9999, .listens = true, .inode = 5}}), 20);
}

TEST(MeetingWatch, RanksMeetAtThePortOrWhereOneListens) {
  Host host;
  host.inodes = {4711};
  EXPECT_EQ(apart_s(host, {{.local_port = 8080, .listens = true, .inode = 5}}), 0);
  host.sockets.clear();
  EXPECT_EQ(apart_s(host, {{.local_port = 50000, .remote_port = 8080, .inode = 5}}), 0);
  host.sockets.clear();
  EXPECT_EQ(apart_s(host, {{.local_port = 12355, .listens = true, .inode = 4711}}), 0);
}

TEST(MeetingWatch, SaysNothingWhereSocketsCannotBeSeen) {
  Host host;
  host.is_known = false;
  EXPECT_EQ(apart_s(host, {}), 0);
  EXPECT_EQ(MeetingWatch(8080, host.view()).apart_s(), 0);
}

TEST(MeetingWatch, SeesTheSocketsOfThisHost) {
  const SocketView view = sockets_of_this_host();
  EXPECT_TRUE(view.sockets().has_value());
}

}  // namespace
}  // namespace lockstep
