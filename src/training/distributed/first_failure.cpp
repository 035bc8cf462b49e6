#include "training/distributed/first_failure.h"

#include "backends/exception_text.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

std::string first_text(ProcessGroup& group, const std::string& key, const std::string& own) {
  std::string first;
  for (const std::string& text : group.collect(key, own))
    if (first.empty()) first = text;
  return group.share(cat(key, " first"), first);
}

Failure first_failure(ProcessGroup& group, const std::string& key, const std::exception_ptr& own) {
  Failure failure;
  bool is_error = false;
  try {
    if (own) std::rethrow_exception(own);
  } catch (const Error& error) {
    is_error = true;
    failure = {error.what(), error.hint()};
  } catch (const std::exception& error) {
    failure.what = message_of(error);
  }
  // One after the other, because each of them needs all ranks.
  failure.what = first_text(group, key, failure.what);
  failure.hint = first_text(group, cat(key, ", hint"), failure.hint);
  if (own && !is_error) std::rethrow_exception(own);
  return failure;
}

}  // namespace lockstep
