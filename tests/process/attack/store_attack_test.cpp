// A process of somebody else that takes the ports of a training for torch's TCP store, and
// overwrites and deletes all that it finds there.
#include "attacked_run.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "core/base/files/fd.h"
#include "fakes/tenths.h"

namespace lockstep {
namespace {

// The TCP ports of this machine on which a process listens.
std::set<int> ports_of(pid_t process) {
  std::set<std::string> inodes;
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(process) + "/fd";
  for (std::filesystem::directory_iterator fd(folder, gone), end; !gone && fd != end;
       fd.increment(gone)) {
    std::error_code closed;
    const std::string target = std::filesystem::read_symlink(fd->path(), closed).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  std::set<int> ports;
  std::ifstream rows("/proc/net/tcp");
  for (std::string line; std::getline(rows, line);) {
    std::istringstream fields(line);
    std::string local, state, inode, skipped;
    fields >> skipped >> local >> skipped >> state;
    for (int i = 0; i < 5; ++i) fields >> skipped;
    fields >> inode;
    if (state == "0A" && inodes.contains(inode))
      ports.insert(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
  }
  return ports;
}

// A client of torch's TCP store that has nothing but its port.
class StoreStranger {
 public:
  explicit StoreStranger(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 0, .tv_usec = 200000};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    good_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  // How many keys were there.
  std::size_t ruin() {
    constexpr char validate = 0, set = 1, remove = 8, list_keys = 17;
    constexpr std::uint32_t magic = 0x3C85F7CE;
    std::string hello(1, validate);
    hello.append(reinterpret_cast<const char*>(&magic), sizeof magic);
    send(hello + list_keys);
    std::vector<std::string> keys;
    const std::uint64_t count = number();
    for (std::uint64_t i = 0; good_ && i < count; ++i) keys.push_back(take(number()));
    for (const std::string& key : keys) send(set + text(key) + text("\xff garbage"));
    for (const std::string& key : keys) {
      send(remove + text(key));
      take(8);
    }
    return keys.size();
  }

 private:
  static std::string text(const std::string& bytes) {
    const std::uint64_t size = bytes.size();
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + bytes;
  }
  void send(const std::string& bytes) {
    good_ = good_ && ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                         static_cast<ssize_t>(bytes.size());
  }
  std::string take(std::uint64_t size) {
    std::string bytes(good_ && size < 65536 ? size : 0, '\0');
    good_ = good_ && ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL) ==
                         static_cast<ssize_t>(size);
    return bytes;
  }
  std::uint64_t number() {
    const std::string bytes = take(sizeof(std::uint64_t));
    std::uint64_t number = 0;
    if (good_) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  UniqueFd socket_;
  bool good_ = false;
};

using StoreAttack = AttackedRun;

TEST_F(StoreAttack, StopsNoStart) {
  std::size_t keys = 0, connections = 0;
  for (int start = 0; start < testing::share_of_turn(5, 2); ++start) {
    testing::ToolProcess tool(train("start-" + std::to_string(start)), folder.path());
    std::jthread stranger([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::vector<pid_t> processes = testing::ranks_of(tool.pid());
        processes.push_back(tool.pid());
        for (const pid_t process : processes)
          for (const int port : ports_of(process)) {
            keys += StoreStranger(port).ruin();
            ++connections;
          }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    const testing::ToolResult result = tool.wait();
    stranger.request_stop();
    stranger.join();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_EQ(keys, 0U);         // no store is within reach
  EXPECT_GT(connections, 0U);  // but Gloo's ports are
}

}  // namespace
}  // namespace lockstep
