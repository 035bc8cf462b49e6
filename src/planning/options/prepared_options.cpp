#include "planning/options/prepared_options.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <filesystem>
#include <string_view>

namespace lockstep {

Prepared prepared_by(const std::function<Prepared()>& prepare, const char* data,
                     const char* record) try {
  return prepare();
} catch (const nlohmann::json::exception& error) {
  if (std::string_view(record).empty()) throw;
  throw Error(cat(record, ", which says what was prepared, is damaged: ", error.what()),
              "restore the run's folder recipe, or start a new run");
} catch (const std::filesystem::filesystem_error& error) {
  if (std::string_view(data).empty()) throw;
  throw Error(cat("cannot prepare ", data, ": ", error.what()),
              "check the cache folder and its space");
}

}  // namespace lockstep
