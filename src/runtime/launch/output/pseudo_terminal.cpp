#include "runtime/launch/output/pseudo_terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/process/descriptors.h"

namespace lockstep {

PseudoTerminal make_pseudo_terminal(int like, int narrower) {
  PseudoTerminal made{.ours = above_stderr(UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC))),
                      .theirs = UniqueFd()};
  std::array<char, 64> name{};
  if (!made.ours || ::grantpt(made.ours.get()) != 0 || ::unlockpt(made.ours.get()) != 0 ||
      ::ptsname_r(made.ours.get(), name.data(), name.size()) != 0)
    return {};
  made.theirs = above_stderr(UniqueFd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)));
  termios modes{};
  if (!made.theirs || ::tcgetattr(made.theirs.get(), &modes) != 0) return {};
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the real terminal converts the output
  modes.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(made.theirs.get(), TCSANOW, &modes);
  follow_size(made.ours, like, narrower);
  return made;
}

void follow_size(const UniqueFd& ours, int like, int narrower) {
  winsize size{};
  if (!ours || ::ioctl(like, TIOCGWINSZ, &size) != 0) return;
  size.ws_col = static_cast<unsigned short>(std::max(0, size.ws_col - narrower));
  ::ioctl(ours.get(), TIOCSWINSZ, &size);
}

}  // namespace lockstep
