#include "training/recipe/item_progress.h"

#include "core/base/check.h"

#include <utility>

namespace lockstep {
namespace {

thread_local const ItemProgressTaker::Take* progress_taker = nullptr;

}  // namespace

void report_item_progress(double done, double total, const std::string& unit) {
  if (progress_taker != nullptr) (*progress_taker)(done, total, unit);
}

ItemProgressTaker::ItemProgressTaker(Take take) : take_(std::move(take)) {
  LOCKSTEP_CHECK(progress_taker == nullptr);
  progress_taker = &take_;
}

ItemProgressTaker::~ItemProgressTaker() { progress_taker = nullptr; }

}  // namespace lockstep
