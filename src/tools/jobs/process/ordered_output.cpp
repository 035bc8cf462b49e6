#include "tools/jobs/process/ordered_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "core/base/files/fd.h"
#include "core/base/files/write_all.h"

namespace lockstep {

OrderedOutput::OrderedOutput(std::set<std::int64_t> jobs, int fd)
    : awaited_(std::move(jobs)), fd_(fd) {}

void OrderedOutput::ended(std::int64_t job, const std::filesystem::path& log) {
  awaited_.erase(job);
  waiting_[job] = log;
  copy_what_is_due();
}

void OrderedOutput::will_not_run(std::int64_t job) {
  if (awaited_.erase(job) > 0) copy_what_is_due();
}

void OrderedOutput::await_only(const std::set<std::int64_t>& jobs) {
  std::erase_if(awaited_, [&](std::int64_t job) { return !jobs.contains(job); });
  copy_what_is_due();
}

void OrderedOutput::copy_what_is_due() {
  while (!waiting_.empty() && (awaited_.empty() || waiting_.begin()->first < *awaited_.begin())) {
    copy(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

void OrderedOutput::finish() {
  for (const auto& [job, log] : std::exchange(waiting_, {})) copy(log);
}

void OrderedOutput::copy(const std::filesystem::path& log) {
  if (broken_) return;
  const UniqueFd file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return;  // the job printed nothing
  char block[1 << 16];
  for (ssize_t got = 0; (got = ::read(file.get(), block, sizeof block)) > 0;)
    if (!write_all(fd_, {block, static_cast<std::size_t>(got)})) {
      broken_ = true;
      return;
    }
}

}  // namespace lockstep
