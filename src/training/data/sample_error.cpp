#include "training/data/sample_error.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>

namespace lockstep {
namespace {

// "sample 3 of the training data", "samples 3, 17, 5, … of the validation data"
std::string name_of(const std::vector<std::int64_t>& samples, bool training) {
  constexpr std::size_t most = 8;
  std::string name = samples.size() == 1 ? "sample " : "samples ";
  for (std::size_t i = 0; i < std::min(samples.size(), most); ++i)
    name += cat(i > 0 ? ", " : "", samples[i]);
  if (samples.size() > most) name += ", …";
  return cat(name, " of the ", training ? "training" : "validation", " data");
}

}  // namespace

void rethrow_naming(const std::vector<std::int64_t>& samples, bool training) {
  const std::string name = name_of(samples, training);
  try {
    throw;
  } catch (const Error& error) {
    throw Error(cat(name, ": ", error.what()), error.hint());
  } catch (c10::Error& error) {
    error.add_context(name);
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(cat(name, ": ", error.what()));
  }
}

}  // namespace lockstep
