#include "launch/breadcrumbs.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"

namespace lockstep {
namespace {

// A cache line a rank. Plain stores that another process reads; only `moves` is ever compared.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> moves;
  std::atomic<std::int64_t> step;
  std::atomic<std::uint64_t> number;
  std::atomic<std::int32_t> activity, waits_in;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Slot) == 64);

Slot own_memory;           // where no launcher reads
Slot* own_slot = nullptr;  // set once, before any thread is started

Crumb read_slot(const Slot& slot) {
  return {.moves = slot.moves.load(std::memory_order_acquire),
          .activity = static_cast<Activity>(slot.activity.load()),
          .step = slot.step.load(),
          .waits_in = static_cast<Collective>(slot.waits_in.load()),
          .number = slot.number.load()};
}

int number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? -1 : whole_number<int>(text, 0, 1 << 20).value_or(-1);
}

}  // namespace

const char* activity_name(Activity activity) {
  switch (activity) {
    case Activity::none:
      return "an unknown place";
    case Activity::starting:
      return "starting";
    case Activity::data:
      return "data";
    case Activity::forward:
      return "forward";
    case Activity::backward:
      return "backward";
    case Activity::reduction:
      return "reduction";
    case Activity::update:
      return "update";
    case Activity::device:
      return "waiting for the device";
    case Activity::evaluation:
      return "evaluation";
    case Activity::checkpoint:
      return "checkpoint";
    case Activity::ending:
      return "ending";
  }
  return "";
}

const char* collective_name(Collective collective) {
  switch (collective) {
    case Collective::none:
      return "nothing";
    case Collective::all_reduce:
      return "all-reduce";
    case Collective::reduce_scatter:
      return "reduce-scatter";
    case Collective::gather:
      return "gather";
    case Collective::exchange:
      return "exchange";
    case Collective::broadcast:
      return "broadcast";
    case Collective::store:
      return "the store";
  }
  return "";
}

namespace {

std::string of_step(const Crumb& crumb) {
  return crumb.step > 0 ? cat(" of step ", crumb.step) : "";
}

}  // namespace

std::string name_wait(const Crumb& crumb) {
  if (crumb.waits_in == Collective::store)
    return cat("the wait for a word of another rank", of_step(crumb));
  return cat(collective_name(crumb.waits_in), " ", crumb.number, of_step(crumb));
}

std::string describe(const Crumb& crumb) {
  if (crumb.waits_in == Collective::store)
    return cat("waits for a word of another rank", of_step(crumb));
  if (crumb.waits_in != Collective::none) return cat("waits in ", name_wait(crumb));
  return cat("in ", activity_name(crumb.activity), of_step(crumb));
}

Breadcrumbs::Breadcrumbs(std::size_t ranks)
    : ranks_(ranks), file_(above_stderr(UniqueFd(memfd_create("lockstep", MFD_CLOEXEC)))) {
  const auto bytes = static_cast<off_t>(ranks * sizeof(Slot));
  if (!file_ || ftruncate(file_.get(), bytes) != 0)
    throw Error(cat("cannot make memory for ", ranks, " ranks: ", errno_text(errno)));
  memory_ = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                 file_.get(), 0);
  if (memory_ == MAP_FAILED) throw Error(cat("cannot share memory: ", errno_text(errno)));
}

Breadcrumbs::~Breadcrumbs() { munmap(memory_, ranks_ * sizeof(Slot)); }

std::vector<Crumb> Breadcrumbs::read() const {
  const Slot* const slots = static_cast<const Slot*>(memory_);
  std::vector<Crumb> crumbs;
  for (std::size_t rank = 0; rank < ranks_; ++rank) crumbs.push_back(read_slot(slots[rank]));
  return crumbs;
}

namespace {

// The line of RANK in the memory that LOCKSTEP_CRUMBS_FD names; null where there is none.
Slot* shared_slot() {
  const int fd = number_from_environment("LOCKSTEP_CRUMBS_FD");
  const int rank = number_from_environment("RANK");
  if (fd < 0 || rank < 0) return nullptr;
  struct stat file {};
  const auto end = static_cast<off_t>((static_cast<std::size_t>(rank) + 1) * sizeof(Slot));
  if (fstat(fd, &file) != 0 || file.st_size < end) return nullptr;
  void* const memory = mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE,
                            MAP_SHARED, fd, 0);
  close(fd);
  unsetenv("LOCKSTEP_CRUMBS_FD");  // what this rank starts is no rank
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory) + rank;
}

}  // namespace

void open_breadcrumbs() {
  Slot* const shared = shared_slot();
  own_slot = shared != nullptr ? shared : &own_memory;
  leave_crumb(Activity::starting, 0);
}

Crumb own_crumb() { return own_slot == nullptr ? Crumb{} : read_slot(*own_slot); }

void touch_crumb() {
  if (own_slot != nullptr) own_slot->moves.fetch_add(1, std::memory_order_release);
}

void leave_crumb(Activity activity) {
  if (own_slot == nullptr) return;
  own_slot->activity.store(static_cast<std::int32_t>(activity), std::memory_order_relaxed);
  touch_crumb();
}

void leave_crumb(Activity activity, std::int64_t step) {
  if (own_slot == nullptr) return;
  own_slot->step.store(step, std::memory_order_relaxed);
  leave_crumb(activity);
}

void count_collective(std::uint64_t number) {
  if (own_slot == nullptr) return;
  own_slot->number.store(number, std::memory_order_relaxed);
  touch_crumb();
}

WaitingCrumb::WaitingCrumb(Collective collective, std::uint64_t number) : WaitingCrumb(collective) {
  count_collective(number);
}

WaitingCrumb::WaitingCrumb(Collective collective) {
  if (own_slot == nullptr) return;
  own_slot->waits_in.store(static_cast<std::int32_t>(collective), std::memory_order_relaxed);
  touch_crumb();
}

WaitingCrumb::~WaitingCrumb() {
  if (own_slot == nullptr) return;
  own_slot->waits_in.store(static_cast<std::int32_t>(Collective::none), std::memory_order_relaxed);
  touch_crumb();
}

}  // namespace lockstep
