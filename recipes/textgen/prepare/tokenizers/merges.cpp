// Byte-pair merging with a heap over a linked list.
#include "recipes/textgen/prepare/tokenizers/merges.h"

#include <queue>
#include <tuple>

namespace lockstep::textgen {
namespace {

std::uint64_t key(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

constexpr std::int64_t none = -1;

// A token in the list. It is dead after it was joined to the token before it.
struct Node {
  std::uint32_t token;
  std::int64_t before, after;
  bool alive;
};

// A pair that could be joined when it was found. It is stale if either token has changed since.
struct Candidate {
  std::uint32_t rank;
  std::int64_t at;
  std::uint32_t left, right, joined;
  bool operator<(const Candidate& other) const {
    return std::tie(rank, at) > std::tie(other.rank, other.at);  // the lowest rank is on top
  }
};

}  // namespace

void Merges::add(std::uint32_t left, std::uint32_t right, std::uint32_t joined,
                 std::uint32_t rank) {
  merges_.try_emplace(key(left, right), Merge{rank, joined});
}

const Merges::Merge* Merges::find(std::uint32_t left, std::uint32_t right) const {
  const auto found = merges_.find(key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<std::uint32_t>& tokens) const {
  std::vector<Node> nodes;
  const auto count = static_cast<std::int64_t>(tokens.size());
  for (std::int64_t i = 0; i < count; ++i)
    nodes.push_back(
        {tokens[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : none, true});
  const auto node = [&](std::int64_t i) -> Node& { return nodes[static_cast<std::size_t>(i)]; };

  std::priority_queue<Candidate> queue;
  const auto offer = [&](std::int64_t at) {
    if (at == none || node(at).after == none) return;
    const std::uint32_t left = node(at).token, right = node(node(at).after).token;
    if (const Merge* merge = find(left, right))
      queue.push({merge->rank, at, left, right, merge->joined});
  };
  for (std::int64_t i = 0; i < count; ++i) offer(i);

  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = node(best.at);
    if (!left.alive || left.token != best.left || left.after == none ||
        node(left.after).token != best.right)
      continue;
    Node& right = node(left.after);
    left.token = best.joined;
    right.alive = false;
    left.after = right.after;
    if (left.after != none) node(left.after).before = best.at;
    offer(left.before);
    offer(best.at);
  }
  tokens.clear();
  for (std::int64_t i = count == 0 ? none : 0; i != none; i = node(i).after)
    tokens.push_back(node(i).token);
}

}  // namespace lockstep::textgen
