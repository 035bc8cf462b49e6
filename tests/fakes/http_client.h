// An HTTP client on loopback that sends what a test likes.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep::testing {

class HttpClient {
 public:
  explicit HttpClient(int port, int patience_s = 10)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<unsigned short>(port));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const timeval patience{patience_s, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  bool connected() const { return connected_; }
  void send(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::string read_to_end() {
    std::string text;
    char part[65536];
    for (ssize_t got = 0; (got = recv(fd_.get(), part, sizeof part, 0)) > 0;)
      text.append(part, static_cast<std::size_t>(got));
    return text;
  }
  std::string read_some() {
    char part[65536];
    const ssize_t got = recv(fd_.get(), part, sizeof part, 0);
    return got > 0 ? std::string(part, static_cast<std::size_t>(got)) : "";
  }

 private:
  UniqueFd fd_;
  bool connected_ = false;
};

// The whole reply to a GET, with its headers; "" if nobody answers.
inline std::string http_get(int port, const std::string& target) {
  HttpClient client(port);
  client.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  return client.read_to_end();
}

inline std::string http_body(const std::string& reply) {
  const std::size_t end = reply.find("\r\n\r\n");
  return end == reply.npos ? "" : reply.substr(end + 4);
}

}  // namespace lockstep::testing
