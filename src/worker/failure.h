// Reports why a rank fails, on standard error and to the launcher that started it.
#pragma once

#include "runtime/launch/ranks/rank_error.h"

#include <exception>

namespace lockstep {

RankError describe_failure(const std::exception& error);
void tell_failure(const RankError& error);
int exit_code_of(const RankError& error);

}  // namespace lockstep
