// A small HTTP/1.1 server, for reading only: GET and HEAD, one thread, everything bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "monitor/listen_address.h"

namespace lockstep {

struct HttpRequest {
  std::string path;   // as it was sent, up to "?": nothing is decoded
  std::string query;  // after "?"
  std::string host;   // of the Host header; "" without one
};

struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // null: empty
};

struct HttpLimits {
  // Beyond, the oldest that waits for a request makes room; where none does, the new one is closed.
  std::size_t connections = 64;
  std::size_t header_bytes = 8192;  // of a request
  std::size_t target_bytes = 1024;  // path and query
  double request_s = 10;            // for the first request of a connection to arrive whole
  double idle_s = 60;               // the same for each later one
  double reply_s = 20;              // for a client to take a reply
};

class HttpServer {
 public:
  // Called in the server's thread, one request at a time; what it throws becomes a 500.
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  // Listens when it returns. Throws Error if it cannot: the port is taken, not permitted, or the
  // address is not one of this machine.
  HttpServer(const ListenAddress& address, Answer answer, const HttpLimits& limits = {});
  ~HttpServer();  // closes every connection
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const ListenAddress& address() const;  // with the port that it got

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
