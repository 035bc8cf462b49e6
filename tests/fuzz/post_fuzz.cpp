// The posts of a rank about itself, in a store that other programs can write to.
#include "fuzz.h"

#include "runtime/launch/watch/world_watch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  Post post;
  const std::string text(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { post = post_from_text(text); })) return 0;
  LOCKSTEP_CHECK(post.host == printable(post.host) && !post.host.empty());
  LOCKSTEP_CHECK(post.failure == printable(post.failure, "\n\t"));
  LOCKSTEP_CHECK(post.heartbeat.step >= 0);
  describe(post.heartbeat);
  // A host name from the store may contain a space, which separates words.
  if (post.host.find(' ') != post.host.npos) return 0;
  LOCKSTEP_CHECK(to_text(post_from_text(to_text(post))) == to_text(post));
  return 0;
}
