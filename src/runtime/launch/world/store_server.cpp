#include "runtime/launch/world/store_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process/descriptors.h"
#include "core/base/process/pass_fd.h"
#include "core/base/process/signal_mask.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/launch/world/store_message.h"

namespace lockstep {
namespace {

constexpr int longest_poll_ms = 60000;

MessageWriter done() {
  return MessageWriter().number(static_cast<std::int64_t>(StoreAnswer::done));
}

std::vector<std::string> read_keys(MessageReader& message) {
  std::vector<std::string> keys;
  for (std::int64_t left = message.number(); left > 0; --left) keys.emplace_back(message.text());
  return keys;
}

MessageWriter not_done(StoreAnswer how, const std::string& why) {
  return MessageWriter().number(static_cast<std::int64_t>(how)).text(why);
}

// A rank's request for keys that do not exist yet.
struct AwaitedKeys {
  std::vector<std::string> keys;
  bool wants_values = false;
  double begin_s = 0, end_s = 0;
};

struct StoreConnection {
  UniqueFd socket;
  std::string in, out;   // received and not handled; being sent
  std::size_t sent = 0;  // sent bytes of `out`
  std::optional<AwaitedKeys> awaited = {};
};

void set_answer(StoreConnection& to, const MessageWriter& answer) {
  to.sent = 0;
  try {
    to.out = answer.framed();
  } catch (const Error& error) {
    to.out = not_done(StoreAnswer::refused, error.what()).framed();
  }
}

}  // namespace

struct StoreServer::State {
  // The ends of the socket through which ranks connect; an event to stop the thread.
  UniqueFd ours, theirs, end;
  std::thread thread = {};
  std::list<StoreConnection> connections = {};
  std::unordered_map<std::string, std::string> values = {};

  void serve();
  int timeout_ms() const;
  void let_in();
  bool read(StoreConnection& from);
  bool write(StoreConnection& to);
  void handle(StoreConnection& from, MessageReader message);
  void handle_wait(StoreConnection& from, MessageReader& message, bool wants_values);
  std::string compare_set(MessageReader& message);
  MessageWriter add(MessageReader& message);
  bool has_all(const std::vector<std::string>& keys) const;
  void answer_waiting(double now_s);
  bool served(StoreConnection& connection, short events);
};

StoreServer::StoreServer() : state_(std::make_unique<State>()) {
  auto [ours, theirs] = socket_pair();
  state_->ours = above_stderr(std::move(ours));
  state_->theirs = above_stderr(std::move(theirs));
  state_->end = above_stderr(UniqueFd(::eventfd(0, EFD_CLOEXEC)));
  if (!state_->ours || !state_->theirs || !state_->end)
    throw Error(cat("cannot open a socket for the ranks to meet: ", errno_text(errno)),
                "is the limit of open files (ulimit -n) too low?");
  const BlockedSignals blocked;
  state_->thread = std::thread([state = state_.get()] { state->serve(); });
}

StoreServer::~StoreServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = ::write(state_->end.get(), &one, sizeof one);
  state_->thread.join();
}

int StoreServer::door() const { return state_->theirs.get(); }

void StoreServer::State::serve() {
  while (true) {
    std::vector<pollfd> watched = {{.fd = end.get(), .events = POLLIN, .revents = 0},
                                   {.fd = ours.get(), .events = POLLIN, .revents = 0}};
    for (const StoreConnection& each : connections)
      watched.push_back({.fd = each.socket.get(),
                         .events = static_cast<short>(each.out.empty() ? POLLIN : POLLOUT),
                         .revents = 0});
    if (::poll(watched.data(), watched.size(), timeout_ms()) < 0) continue;
    if (watched[0].revents != 0) return;
    std::size_t place = 2;
    for (auto each = connections.begin(); each != connections.end();)
      each = served(*each, watched[place++].revents) ? std::next(each) : connections.erase(each);
    if (watched[1].revents != 0) let_in();
    // A rank shut the socket down for all ranks.
    if ((watched[1].revents & (POLLHUP | POLLERR)) != 0) ours.reset();
    answer_waiting(system_clock().now_s());
  }
}

// The time until the next waiting rank must get an answer.
int StoreServer::State::timeout_ms() const {
  double end_s = std::numeric_limits<double>::infinity();
  for (const StoreConnection& each : connections)
    if (each.awaited) end_s = std::min(end_s, each.awaited->end_s);
  const double left_ms = std::ceil((end_s - system_clock().now_s()) * 1000);
  return static_cast<int>(std::clamp(left_ms, 0.0, double{longest_poll_ms}));
}

void StoreServer::State::let_in() {
  while (UniqueFd socket = receive_fd(ours.get()))
    connections.emplace_back().socket = std::move(socket);
}

// Returns whether the connection still works.
bool StoreServer::State::served(StoreConnection& connection, short events) {
  if (events == 0) return true;
  return connection.out.empty() ? read(connection) : write(connection);
}

// Reads a request, which must be the only one until it is answered. Bytes behind it are dropped.
bool StoreServer::State::read(StoreConnection& from) {
  std::array<char, 1 << 16> bytes;
  const ssize_t got = ::recv(from.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0 || from.awaited) return false;
  from.in.append(bytes.data(), static_cast<std::size_t>(got));
  try {
    const auto size = message_bytes(from.in);
    if (!size || from.in.size() < frame_bytes + *size) return true;
    const std::string message = std::exchange(from.in, {}).substr(frame_bytes);
    handle(from, MessageReader(message));
  } catch (const Error&) {  // the peer is not a rank of this version
    return false;
  }
  return from.out.empty() || write(from);
}

bool StoreServer::State::write(StoreConnection& to) {
  const ssize_t sent = ::send(to.socket.get(), to.out.data() + to.sent, to.out.size() - to.sent,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  to.sent += static_cast<std::size_t>(sent);
  if (to.sent == to.out.size()) to.out.clear();
  return true;
}

void StoreServer::State::handle(StoreConnection& from, MessageReader message) {
  MessageWriter answer = done();
  switch (static_cast<StoreRequest>(message.number())) {
    case StoreRequest::set:
      for (std::int64_t left = message.number(); left > 0; --left) {
        const std::string key(message.text());
        values[key] = message.text();
      }
      break;
    case StoreRequest::compare_set:
      answer.text(compare_set(message));
      break;
    case StoreRequest::append: {
      const std::string key(message.text());
      values[key] += message.text();
      break;
    }
    case StoreRequest::add:
      answer = add(message);
      break;
    case StoreRequest::get:
      return handle_wait(from, message, true);
    case StoreRequest::wait:
      return handle_wait(from, message, false);
    case StoreRequest::check:
      answer.number(has_all(read_keys(message)) ? 1 : 0);
      break;
    case StoreRequest::remove:
      answer.number(static_cast<std::int64_t>(values.erase(std::string(message.text()))));
      break;
    case StoreRequest::count:
      answer.number(static_cast<std::int64_t>(values.size()));
      break;
    default:
      throw Error("no request to the ranks' store");
  }
  message.end();
  set_answer(from, answer);
}

std::string StoreServer::State::compare_set(MessageReader& message) {
  const std::string key(message.text()), expected(message.text()), desired(message.text());
  const auto found = values.find(key);
  if (found == values.end()) {
    if (!expected.empty()) return expected;
    return values[key] = desired;
  }
  if (found->second == expected) found->second = desired;
  return found->second;
}

MessageWriter StoreServer::State::add(MessageReader& message) {
  const std::string key(message.text());
  const std::int64_t more = message.number();
  const auto found = values.find(key);
  const auto before = found == values.end()
                          ? std::optional<std::int64_t>(0)
                          : whole_number(found->second, std::numeric_limits<std::int64_t>::min());
  std::int64_t sum = 0;
  if (!before || __builtin_add_overflow(*before, more, &sum))
    return not_done(StoreAnswer::refused,
                    cat("the value of ", key, " in the ranks' store is no number that ", more,
                        " can be added to"));
  values[key] = std::to_string(sum);
  return done().number(sum);
}

bool StoreServer::State::has_all(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return values.contains(key); });
}

void StoreServer::State::handle_wait(StoreConnection& from, MessageReader& message,
                                     bool wants_values) {
  const std::int64_t most_ms = message.number();
  AwaitedKeys awaited{.keys = read_keys(message), .wants_values = wants_values};
  message.end();
  awaited.begin_s = system_clock().now_s();
  awaited.end_s = most_ms > 0 ? awaited.begin_s + static_cast<double>(most_ms) / 1000
                              : std::numeric_limits<double>::infinity();
  from.awaited = std::move(awaited);
}

void StoreServer::State::answer_waiting(double now_s) {
  for (StoreConnection& each : connections) {
    if (!each.awaited) continue;
    const AwaitedKeys& awaited = *each.awaited;
    MessageWriter answer = done();
    if (has_all(awaited.keys)) {
      if (awaited.wants_values)
        for (const std::string& key : awaited.keys) answer.text(values.at(key));
    } else if (now_s >= awaited.end_s) {
      answer = not_done(StoreAnswer::timed_out,
                        cat("no rank has left ", join(awaited.keys, ", "), " in the store within ",
                            fixed(now_s - awaited.begin_s, 1), " s"));
    } else {
      continue;
    }
    each.awaited.reset();
    set_answer(each, answer);
  }
}

}  // namespace lockstep
