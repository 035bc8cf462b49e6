#include "runtime/launch/watch/world_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

constexpr double usual_hang_after_s = 60;  // until the run and its options are known
constexpr double seeking_cause_s = 5;  // time in which the cause of a failed collective may show
// After a failed collective, a rank that is silent for this long is gone.
constexpr double gone_s = 3;
constexpr double unheard_s = 5;  // in all other cases, a shorter silence is ignored
constexpr std::size_t most_post_bytes = std::size_t{1} << 20;

const char* const go_on =
    "what was saved is kept: start the same command again with --resume auto and the same --name, "
    "on as many hosts as there are";

// Returns, for example, "rank 2 on b" or "ranks 2, 3 on b and 4 on c".
std::string name_ranks(const std::vector<std::size_t>& ranks, const std::vector<Post>& posts) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string& host = posts[ranks[i]].host;
    const bool last_on_host = i + 1 == ranks.size() || posts[ranks[i + 1]].host != host;
    text += cat(ranks[i], last_on_host ? cat(" on ", host) : "");
    if (i + 1 < ranks.size()) text += last_on_host ? " and " : ", ";
  }
  return text;
}

std::string hosts_of(const std::vector<std::size_t>& ranks, const std::vector<Post>& posts) {
  std::vector<std::string> hosts;
  for (const std::size_t rank : ranks)
    if (std::find(hosts.begin(), hosts.end(), posts[rank].host) == hosts.end())
      hosts.push_back(posts[rank].host);
  return join(hosts, ", ");
}

std::string in_seconds(double time_s) { return cat(std::lround(time_s), " s"); }

}  // namespace

std::string to_text(const Post& post) {
  const Heartbeat& heartbeat = post.heartbeat;
  return cat(post.host.empty() ? "?" : post.host, " ", post.beats, " ", heartbeat.moves, " ",
             static_cast<int>(heartbeat.phase), " ", heartbeat.step, " ",
             static_cast<int>(heartbeat.waits_in), " ", heartbeat.number, " ",
             post.in_collective ? 1 : 0, " ", post.failure.substr(0, most_post_bytes / 2));
}

namespace {

// Reads the words of a post one by one.
class PostReader {
 public:
  explicit PostReader(std::string_view text) : text_(text), rest_(text) {
    if (text.size() > most_post_bytes) fail();
  }
  std::string_view word() {
    const std::size_t end = rest_.find(' ');
    if (end == rest_.npos || end == 0) fail();
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return word;
  }
  template <class Number>
  Number number(Number most = std::numeric_limits<Number>::max()) {
    const auto number = whole_number<Number>(word(), 0, most);
    if (!number) fail();
    return *number;
  }
  std::string_view rest() const { return rest_; }

 private:
  [[noreturn]] void fail() const {
    throw Error(cat("what a rank says of itself in the store is damaged: \"",
                    printable(std::string(text_.substr(0, 80))), "\""),
                "does another run or another program use the same MASTER_PORT? choose another one");
  }

  std::string_view text_, rest_;
};

}  // namespace

Post post_from_text(const std::string& text) {
  PostReader in(text);
  Post post;
  post.host = printable(std::string(in.word()));
  post.beats = in.number<std::uint64_t>();
  post.heartbeat.moves = in.number<std::uint64_t>();
  post.heartbeat.phase = static_cast<Phase>(in.number(static_cast<int>(Phase::ending)));
  post.heartbeat.step = in.number<std::int64_t>();
  post.heartbeat.waits_in = static_cast<Collective>(in.number(static_cast<int>(Collective::store)));
  post.heartbeat.number = in.number<std::uint64_t>();
  post.in_collective = in.number(1) != 0;
  post.failure = printable(std::string(in.rest()), "\n\t");
  return post;
}

WorldWatch::WorldWatch(WatchedWorld world)
    : world_(std::move(world)), hang_after_s_(usual_hang_after_s), ranks_(world_.size) {}

void WorldWatch::follow(double hang_after_s) {
  hang_after_s_ = hang_after_s;
  hangs_.emplace(world_.size, hang_after_s);
}

std::optional<Verdict> WorldWatch::look(const News& news, double now_s) {
  listen(news, now_s);
  if (auto verdict = failure(news, now_s)) return verdict;
  if (hang_after_s_ <= 0) return std::nullopt;
  if (auto verdict = silence(news, now_s)) return verdict;
  return hang(news, now_s);
}

// Raises a time limit for a large world, because its ranks post less often.
double WorldWatch::at_least(double time_s) const { return std::max(time_s, 5 * world_.period_s); }

void WorldWatch::listen(const News& news, double now_s) {
  const bool slept = !looked_s_ || now_s - *looked_s_ > own_sleep_s;
  looked_s_ = now_s;
  const bool answers = news.exchanges != exchanges_;
  exchanges_ = news.exchanges;
  // After an interruption of the connection to the store, each rank gets time to post again.
  const bool anew = slept || (answers && now_s - answered_s_ > at_least(unheard_s));
  if (slept || answers) answered_s_ = now_s;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (anew || news.posts[i].beats != rank.beats) rank.heard_s = now_s;
    rank.beats = news.posts[i].beats;
  }
}

// Ranks that have been silent for `for_s` at the store's last reply. While the store itself is
// silent, the state of the ranks is unknown.
std::vector<std::size_t> WorldWatch::silent(const News& news, double for_s) const {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (static_cast<int>(i) != world_.rank && news.posts[i].failure.empty() &&
        answered_s_ - ranks_[i].heard_s >= for_s)
      ranks.push_back(i);
  return ranks;
}

std::string WorldWatch::own_place(const News& news) const {
  const Post& own = news.posts[static_cast<std::size_t>(world_.rank)];
  if (!own.failure.empty()) return cat("; on rank ", world_.rank, " ", own.failure);
  const Heartbeat& heartbeat = own.heartbeat;
  return cat("; rank ", world_.rank, heartbeat.waits_in == Collective::none ? " is " : " ",
             describe(heartbeat));
}

std::optional<Verdict> WorldWatch::failure(const News& news, double now_s) {
  const Post* reported = nullptr;
  std::size_t reporter = 0;
  for (std::size_t i = 0; i < news.posts.size(); ++i) {
    const Post& post = news.posts[i];
    if (post.failure.empty()) continue;
    if (!post.in_collective && static_cast<int>(i) != world_.rank)
      return Verdict{cat(name_ranks({i}, news.posts), " failed: ", post.failure), go_on};
    if (post.in_collective && reported == nullptr) {
      reported = &post;
      reporter = i;
    }
  }
  if (!news.damage.empty()) return Verdict{cat(news.damage, own_place(news)), news.damage_hint};
  if (news.closed) {
    const bool ended = world_.of_rank_0 && world_.rank != 0;
    const std::string what = ended ? cat(name_ranks({0}, news.posts), " has ended: ") : "";
    return Verdict{cat(what, "the store at ", world_.store, " is gone", own_place(news)), go_on};
  }
  if (reported == nullptr) return std::nullopt;
  if (!collective_failed_s_) collective_failed_s_ = now_s;
  const std::string said = cat(reported->failure, " on ", name_ranks({reporter}, news.posts));
  const double known_gone_s = at_least(gone_s);
  if (now_s - answered_s_ >= known_gone_s) return store_silence(news, now_s);
  const auto gone = silent(news, known_gone_s);
  // A rank that was silent long before did not cause the failed collective. The end of another rank
  // closed the connection.
  const double failed_for_s = now_s - *collective_failed_s_;
  if (!gone.empty() && longest_s(gone) - failed_for_s >= at_least(unheard_s))
    return no_answer(news, gone);
  if (!gone.empty())
    return Verdict{cat(name_ranks(gone, news.posts), gone.size() == 1 ? " has" : " have",
                       " ended or vanished: ", said),
                   go_on};
  if (failed_for_s < at_least(seeking_cause_s)) return std::nullopt;
  return Verdict{said, go_on};
}

Verdict WorldWatch::store_silence(const News& news, double now_s) const {
  const std::string who = world_.of_rank_0
                              ? cat(name_ranks({0}, news.posts), " does not answer: no word from ",
                                    world_.store, ", where it serves the store,")
                              : cat("the store at ", world_.store, " does not answer: no word");
  return {cat(who, " for ", in_seconds(now_s - answered_s_), own_place(news)),
          cat("see whether that host is up and this one can reach it; ", go_on)};
}

std::optional<Verdict> WorldWatch::silence(const News& news, double now_s) const {
  if (now_s - answered_s_ >= hang_after_s_) return store_silence(news, now_s);
  if (silent(news, hang_after_s_).empty()) return std::nullopt;
  // A smaller limit here also finds the other ranks of the host, which spoke last at other moments.
  return no_answer(news, silent(news, std::min(hang_after_s_, at_least(unheard_s))));
}

double WorldWatch::longest_s(const std::vector<std::size_t>& ranks) const {
  double time_s = 0;
  for (const std::size_t rank : ranks)
    time_s = std::max(time_s, answered_s_ - ranks_[rank].heard_s);
  return time_s;
}

Verdict WorldWatch::no_answer(const News& news, const std::vector<std::size_t>& ranks) const {
  const bool one = ranks.size() == 1;
  return {cat(name_ranks(ranks, news.posts), one ? " does" : " do", " not answer: no word of ",
              one ? "it" : "them", " for ", in_seconds(longest_s(ranks)), own_place(news)),
          cat("see whether ", hosts_of(ranks, news.posts),
              " can be reached and the processes run; ", go_on)};
}

std::optional<Verdict> WorldWatch::hang(const News& news, double now_s) {
  if (!hangs_) return std::nullopt;
  std::vector<Heartbeat> heartbeats;
  for (const Post& post : news.posts) heartbeats.push_back(post.heartbeat);
  const std::vector<bool> no(ranks_.size());
  const auto found = hangs_->look(heartbeats, no, no, now_s);
  // The state of a silent rank is unknown. So its silence is reported, and not a hang.
  if (!found || now_s - answered_s_ >= at_least(unheard_s) ||
      !silent(news, at_least(unheard_s)).empty())
    return std::nullopt;
  const auto rank = static_cast<std::size_t>(found->rank);
  return Verdict{cat(name_ranks({rank}, news.posts), " ", found->how), go_on};
}

}  // namespace lockstep
