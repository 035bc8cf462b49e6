#include "runtime/launch/watch/meeting_watch.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

// A larger table of sockets belongs to a busy host. Reading it would cost that host time.
constexpr std::size_t most_table_bytes = std::size_t{1} << 20;
constexpr int listen_state = 0x0A;

std::optional<std::uint64_t> number_of(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads the port of an address such as "0100007F:1F90".
std::optional<std::uint64_t> port_in(const std::string& address) {
  return number_of(std::string_view(address).substr(address.rfind(':') + 1), 16);
}

std::optional<TcpSocket> socket_in(const std::string& line) {
  std::istringstream in(line);
  std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
  in >> number >> local >> remote >> state >> queues >> timer >> retries >> user >> timeout >>
      inode;
  const auto own = port_in(local), other = port_in(remote), how = number_of(state, 16),
             which = number_of(inode, 10);
  if (!in || !own || !other || !how || !which) return std::nullopt;
  return TcpSocket{.local_port = static_cast<int>(*own),
                   .remote_port = static_cast<int>(*other),
                   .listens = *how == listen_state,
                   .inode = *which};
}

// Returns nothing if the table cannot be read or is too large.
std::optional<std::string> table_text(const char* path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text(most_table_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.size() > most_table_bytes ? std::nullopt : std::optional(text);
}

std::optional<std::vector<TcpSocket>> all_sockets() {
  const auto of_ipv4 = table_text("/proc/net/tcp");
  if (!of_ipv4) return std::nullopt;
  std::vector<TcpSocket> all = tcp_sockets(*of_ipv4);
  if (const auto of_ipv6 = table_text("/proc/net/tcp6"))
    for (const TcpSocket& socket : tcp_sockets(*of_ipv6)) all.push_back(socket);
  return all;
}

std::vector<std::uint64_t> socket_inodes(pid_t pid) {
  constexpr std::string_view begins = "socket:[";
  std::vector<std::uint64_t> inodes;
  std::error_code error;
  std::filesystem::directory_iterator entry(cat("/proc/", pid, "/fd"), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const std::string link = std::filesystem::read_symlink(entry->path(), gone).string();
    if (gone || !link.starts_with(begins) || !link.ends_with(']')) continue;
    const std::string_view inode(link.data() + begins.size(), link.size() - begins.size() - 1);
    if (const auto number = number_of(inode, 10)) inodes.push_back(*number);
  }
  return inodes;
}

}  // namespace

std::vector<TcpSocket> tcp_sockets(std::string_view table) {
  std::vector<TcpSocket> all;
  for (const std::string& line : split(std::string(table), '\n'))
    if (const auto socket = socket_in(line)) all.push_back(*socket);
  return all;
}

SocketView sockets_of_this_host() { return {.sockets = all_sockets, .inodes_of = socket_inodes}; }

void MeetingWatch::look(const std::vector<pid_t>& ranks, double now_s) {
  if (is_over_ || ranks.empty()) return;
  const auto sockets = view_.sockets();
  is_over_ = !sockets || see_meeting(*sockets, ranks);
  if (!first_s_) first_s_ = now_s;
  last_s_ = now_s;
}

bool MeetingWatch::see_meeting(const std::vector<TcpSocket>& sockets,
                               const std::vector<pid_t>& ranks) const {
  std::vector<std::uint64_t> own;
  for (const pid_t rank : ranks)
    for (const std::uint64_t inode : view_.inodes_of(rank)) own.push_back(inode);
  return std::any_of(sockets.begin(), sockets.end(), [&](const TcpSocket& socket) {
    if (socket.local_port == port_ || socket.remote_port == port_) return true;
    return socket.listens && std::find(own.begin(), own.end(), socket.inode) != own.end();
  });
}

}  // namespace lockstep
