// Finds out whether the ranks of a user's program meet, as init_process_group lets them. A script
// for one GPU does not do this, and then each rank runs the whole script by itself.
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
// Reads the rows of such a table. Unreadable rows are skipped.
std::vector<TcpSocket> tcp_sockets(std::string_view table);

// Functions that read the sockets. `sockets` returns nothing if they are unknown.
struct SocketView {
  std::function<std::optional<std::vector<TcpSocket>>()> sockets;
  // Returns the inodes of the sockets that the process has open.
  std::function<std::vector<std::uint64_t>(pid_t)> inodes_of;
};
SocketView sockets_of_this_host();

class MeetingWatch {
 public:
  // port: MASTER_PORT, at which PyTorch's ranks meet.
  MeetingWatch(int port, SocketView view) : port_(port), view_(std::move(view)) {}

  // Reads the sockets. Does nothing once the ranks have met, or once this cannot be found out.
  void look(const std::vector<pid_t>& ranks, double now_s);
  // The seconds for which the ranks were watched without meeting. In that time nobody used the
  // port. Also no rank listened on another port, as programs do that meet in another way. 0 if they
  // met, or if it is unknown.
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
