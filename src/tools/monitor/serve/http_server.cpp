// Only this file includes Boost.Beast, because that takes seconds to compile.
#include "tools/monitor/serve/http_server.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Failure = boost::system::error_code;

constexpr int http_1_1 = 11;
constexpr double farewell_s = 2;                    // time for a refused client to read the reason
constexpr double rest_after_failed_accept_s = 0.1;  // waits until a file descriptor is free
constexpr std::size_t farewell_bytes = 1 << 16;  // most bytes that a refused client may still send

std::chrono::milliseconds ms(double seconds) {
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1e3));
}

// Browsers load, run and show only content of this server. No other site may embed or read it.
constexpr std::array<std::pair<const char*, const char*>, 5> every_reply{{
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
}};

HttpReply refusal(int status, const std::string& why) {
  return {.status = status, .body = std::make_shared<const std::string>(why + "\n")};
}

HttpReply refusal_of(const Failure& failure) {
  if (failure == http::error::header_limit || failure == http::error::buffer_overflow)
    return refusal(431, "the request is too long");
  return refusal(400, "this is not an HTTP request");
}

class Session;

// Open connections, the oldest first.
struct Open {
  std::list<Session*> sessions;
  const HttpLimits& limits;
  const HttpServer::Answer& answer;
};

// One connection. The object exists as long as an operation on it is pending.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket&& socket, Open& open)
      : stream_(std::move(socket)), open_(open), buffer_(2 * open.limits.header_bytes) {
    place_ = open_.sessions.insert(open_.sessions.end(), this);
  }
  ~Session() { open_.sessions.erase(place_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool waits() const { return waits_; }  // the connection waits for a request
  void close() {
    waits_ = false;
    stream_.close();
  }
  void read(double patience_s) {
    waits_ = true;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(open_.limits.header_bytes));
    // the server never reads a body
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    stream_.expires_after(ms(patience_s));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](const Failure& failure, std::size_t) {
                              self->waits_ = false;
                              self->have_read(failure);
                            });
  }

 private:
  void have_read(const Failure& failure) {
    // HTTP errors are faults of the request. For any other error, the client closed the connection
    // or took too long.
    if (failure &&
        (failure == http::error::end_of_stream ||
         failure.category() != http::make_error_code(http::error::bad_version).category()))
      return;
    last_ = true;
    if (failure) return write(refusal_of(failure), false);
    const auto& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    if (request.method() != http::verb::get && !head)
      return write(refusal(405, "only GET and HEAD are answered"), false);
    if (request.target().size() > open_.limits.target_bytes)
      return write(refusal(414, "the address is too long"), head);
    if (!parser_->is_done()) return write(refusal(400, "a request must have no body"), head);
    if (request.version() >= http_1_1 && request.count(http::field::host) != 1)
      return write(refusal(400, "a request must have one Host"), head);
    last_ = !request.keep_alive();
    write(answer(), head);
  }

  HttpReply answer() const {
    const auto& request = parser_->get();
    const std::string target(request.target());
    const std::size_t end = target.find('?');
    try {
      return open_.answer({.path = target.substr(0, end),
                           .query = end == target.npos ? "" : target.substr(end + 1),
                           .host = std::string(request[http::field::host])});
    } catch (const std::exception& error) {
      return refusal(500, error.what());
    }
  }

  void write(const HttpReply& reply, bool head_only) {
    static const auto nothing = std::make_shared<const std::string>();
    body_ = reply.body ? reply.body : nothing;
    std::ostringstream head;
    head << "HTTP/1.1 " << reply.status << " " << http::obsolete_reason(http::status(reply.status))
         << "\r\nContent-Type: " << reply.type << "\r\nContent-Length: " << body_->size() << "\r\n";
    for (const auto& [name, value] : every_reply) head << name << ": " << value << "\r\n";
    if (reply.status == 405) head << "Allow: GET, HEAD\r\n";
    head << (last_ ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n");
    head_ = head.str();
    if (head_only) body_ = nothing;
    stream_.expires_after(ms(open_.limits.reply_s));
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head_), asio::buffer(*body_)};
    asio::async_write(stream_, parts,
                      [self = shared_from_this()](const Failure& failure, std::size_t) {
                        self->body_.reset();
                        if (failure) return;
                        if (!self->last_) return self->read(self->open_.limits.idle_s);
                        self->take_leave();
                      });
  }

  // Reads on for a short time before closing. If the connection were closed while the client still
  // sends, the client would lose the reply.
  void take_leave() {
    Failure ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(ms(farewell_s));
    drain();
  }
  void drain() {
    stream_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this()](const Failure& failure, std::size_t bytes) {
                              self->drained_ += bytes;
                              if (!failure && self->drained_ < farewell_bytes) self->drain();
                            });
  }

  beast::tcp_stream stream_;
  Open& open_;
  std::list<Session*>::iterator place_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  std::array<char, 1024> rest_{};
  std::size_t drained_ = 0;
  bool waits_ = false, last_ = false;
};

// Adds a remedy to errors such as "in use" and "not permitted".
[[noreturn]] void throw_listen_error(const ListenAddress& address, const Failure& failure) {
  const std::string what = cat("--serve: cannot listen at ", address.text(), ": ");
  if (failure == asio::error::address_in_use)
    throw Error(cat(what, "the port is in use"),
                cat("another program has it (ss -ltnp says which; dcgm-exporter takes 9400 too); "
                    "name another port, such as --serve=",
                    ListenAddress{address.host, address.port + 1}.text()));
  if (failure == asio::error::access_denied)
    throw Error(cat(what, "no permission"),
                "ports below 1024 are root's; take a higher one, such as --serve=9400");
  if (failure.value() == EADDRNOTAVAIL)
    throw Error(cat(what, "this machine does not have the address"),
                "ip address lists those that it has; 127.0.0.1 is always there");
  throw Error(cat(what, failure.message()));
}

}  // namespace

struct HttpServer::Impl {
  ListenAddress address;
  Answer answer;
  HttpLimits limits;
  Open open{{}, limits, answer};  // must outlive the connections, which end with `io`
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer timer{io};
  std::thread thread;

  void listen();
  void accept();
  void accepted(tcp::socket&& socket);
};

void HttpServer::Impl::listen() {
  const tcp::endpoint endpoint(asio::ip::make_address(address.host),
                               static_cast<unsigned short>(address.port));
  Failure failure;
  const auto check = [&] {
    if (failure) throw_listen_error(address, failure);
  };
  acceptor.open(endpoint.protocol(), failure);
  check();
  fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
  acceptor.bind(endpoint, failure);
  check();
  acceptor.listen(static_cast<int>(limits.connections), failure);
  check();
  address.port = acceptor.local_endpoint().port();
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([this](const Failure& failure, tcp::socket socket) {
    if (!failure) {
      try {
        accepted(std::move(socket));
      } catch (const std::exception&) {  // no memory for this connection; later ones may succeed
      }
      return accept();
    }
    timer.expires_after(ms(rest_after_failed_accept_s));
    timer.async_wait([this](const Failure& stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpServer::Impl::accepted(tcp::socket&& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  if (open.sessions.size() >= limits.connections) {
    const auto waiting = std::find_if(open.sessions.begin(), open.sessions.end(),
                                      [](const Session* one) { return one->waits(); });
    if (waiting == open.sessions.end()) return;  // returning closes the new connection
    (*waiting)->close();
  }
  std::make_shared<Session>(std::move(socket), open)->read(limits.request_s);
}

HttpServer::HttpServer(const ListenAddress& address, Answer answer, const HttpLimits& limits)
    : impl_(new Impl{address, std::move(answer), limits}) {
  impl_->listen();
  impl_->accept();
  impl_->thread = std::thread([this] { impl_->io.run(); });
}

HttpServer::~HttpServer() {
  impl_->io.stop();
  impl_->thread.join();
}

const ListenAddress& HttpServer::address() const { return impl_->address; }

}  // namespace lockstep
