# shellcheck shell=bash disable=SC2034,SC2154
# The libraries of an older system, for what has to run there too.

# Sets sysroot to a folder with the C and C++ libraries of an older release of this system, to link against, and with
# LightGBM's OpenMP: packages that are fetched once and unpacked. Nothing is installed.
oldest_glibc=2.31 oldest_glibcxx=3.4.28
make_sysroot() {
  sysroot=$cache/glibc-$oldest_glibc
  if [ -e "$sysroot/usr/lib/x86_64-linux-gnu/crt1.o" ] && [ -e "$sysroot/usr/lib/x86_64-linux-gnu/libstdc++.so.6" ]; then return; fi
  local release repository system partial=$cache/.glibc-$$
  case $(os_field ID) in
    debian) release=bullseye system=Debian ;;
    ubuntu) release=focal system=Ubuntu ;;
    *) die "the C library of an older system is to be had on Debian and Ubuntu only" "make the archive there" ;;
  esac
  repository=$(repository_of "$system")
  [ -n "$repository" ] || die "apt-get knows no repository of $system" "run apt-get update"
  mkdir -p "$partial/root" "$partial/debs"
  echo "deb $repository $release main" >"$partial/sources.list"
  say "fetching the C library of $release"
  apt_old() {
    cache=$partial private_apt -o Dir::Etc::SourceList="$partial/sources.list" -o Dir::Etc::SourceParts=/dev/null \
      -o Dir::State::Status=/dev/null -o APT::Sandbox::User=root "$@" >&2
  }
  if ! apt_old update || ! (cd "$partial/debs" && apt_old download libc6:amd64 libc6-dev:amd64 libgomp1:amd64 libstdc++6:amd64 libgcc-s1:amd64); then
    rm -rf "$partial"
    die "the C library of $release could not be fetched" "see the message of apt-get above"
  fi
  for file in "$partial"/debs/*.deb; do dpkg-deb -x "$file" "$partial/root"; done
  # Their links lead to where they would be installed.
  find "$partial/root" -type l -lname '/*' | while read -r file; do
    ln -sfr "$partial/root$(readlink "$file")" "$file"
  done
  rm -rf "$sysroot"
  mv "$partial/root" "$sysroot"
  rm -rf "$partial"
}

# needs_no_newer FILE: ends the script if the file needs a newer C or C++ library than those.
needs_no_newer() {
  local kind oldest newest
  for kind in GLIBC GLIBCXX; do
    oldest=$oldest_glibc
    if [ "$kind" = GLIBCXX ]; then oldest=$oldest_glibcxx; fi
    newest=$({ echo "${kind}_$oldest" && objdump -T "$1" | grep -o "\b${kind}_[0-9.]*"; } | sort -uV | tail -n 1)
    [ "$newest" = "${kind}_$oldest" ] || die "$1 needs $newest" "this is a fault of Lockstep's build"
  done
}
