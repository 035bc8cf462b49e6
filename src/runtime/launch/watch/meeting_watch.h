// Finds out whether the ranks of a user's program meet, which means that they connect to each
// other, as in init_process_group. A script that is written for one GPU does not do this, so each
// rank runs the whole script by itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// A TCP socket of this host, from a row of /proc/net/tcp.
struct TcpSocket {
  int local_port = 0, remote_port = 0;
  bool listens = false;
  std::uint64_t inode = 0;
};
// Reads the rows of a table in the format of /proc/net/tcp. Unreadable rows are skipped.
std::vector<TcpSocket> tcp_sockets(std::string_view table);

// Functions that read the sockets of this host. `sockets` returns nothing if they cannot be read.
struct SocketView {
  std::function<std::optional<std::vector<TcpSocket>>()> sockets;
  // Returns the inodes of the sockets that the process has open.
  std::function<std::vector<std::uint64_t>(pid_t)> inodes_of;
};
SocketView sockets_of_this_host();

class MeetingWatch {
 public:
  // port: MASTER_PORT, on which PyTorch's ranks meet.
  MeetingWatch(int port, SocketView view) : port_(port), view_(std::move(view)) {}

  // Checks the sockets of the ranks. Does nothing once the ranks have met, or once the sockets
  // could not be read.
  void look(const std::vector<pid_t>& ranks, double now_s);
  // The seconds for which the ranks have been watched and have not met. Ranks count as having met
  // if any process uses MASTER_PORT, or if a rank listens on another port, as in programs that meet
  // in another way. 0 if they have met, or if the sockets could not be read.
  double apart_s() const { return is_over_ ? 0 : last_s_ - first_s_.value_or(last_s_); }

 private:
  bool see_meeting(const std::vector<TcpSocket>& sockets, const std::vector<pid_t>& ranks) const;

  int port_;
  SocketView view_;
  std::optional<double> first_s_;
  double last_s_ = 0;
  bool is_over_ = false;
};

}  // namespace lockstep
