# Says how far an installation or a build is.  Sourced by ./run and by the runner behind ./test.
#
# On a terminal one line is written over and over; elsewhere a line is printed at every tenth part, and after half a minute.

# shellcheck shell=bash
first_build_processor_seconds=450 # of the program without tests, see docs/internals/build.md
progress_every_percent=10
progress_every_seconds=30

# first_build_seconds: how long the first build of the program may take here.
first_build_seconds() {
  echo $((first_build_processor_seconds / $(nproc)))
}

# duration SECONDS: as a person says it.
duration() {
  if (($1 < 10)); then
    echo 'a few seconds'
  elif (($1 < 90)); then
    echo "about $1 seconds"
  else
    echo "about $((($1 + 30) / 60)) minutes"
  fi
}

progress_begin() {
  progress_percent=0
  progress_second=$SECONDS
}

# progress PERCENT TEXT
progress() {
  if [[ -t 1 ]]; then
    printf '\r\033[K%s' "${2:0:$((${COLUMNS:-80} - 1))}"
  elif (($1 >= progress_percent + progress_every_percent || SECONDS >= progress_second + progress_every_seconds)); then
    progress_percent=$(($1 / progress_every_percent * progress_every_percent))
    progress_second=$SECONDS
    printf '%s\n' "$2"
  fi
}

# progress_end: makes room for lines that stay.
progress_end() {
  [[ ! -t 1 ]] || printf '\r\033[K'
}

# seconds_left DONE TOTAL ELAPSED GUESS: the steps done so far tell how long the others take.  The first quarter says little about
# the rest, so that there the guess for the whole counts, too.
seconds_left() {
  local measured=$(($3 * $2 / $1)) weight=$(($1 * 400 / $2))
  ((weight <= 100)) || weight=100
  [[ $4 -gt 0 ]] || weight=100
  echo $((((100 - weight) * $4 + weight * measured) * ($2 - $1) / (100 * $2)))
}

# follow_ninja NAME GUESS: reads the output of ninja, started with NINJA_STATUS='@%f/%t@ ', and prints what is not about its steps, the
# errors of the compiler for instance.  GUESS is how many seconds the whole may take, 0 when nobody knows.
follow_ninja() {
  local line done_steps total began=$SECONDS left
  progress_begin
  while IFS= read -r line || [[ $line ]]; do
    if [[ $line =~ ^@([0-9]+)/([0-9]+)@ ]]; then
      done_steps=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} left=
      if ((done_steps > 0 && total > done_steps && SECONDS >= began + 5)); then
        left=", $(duration "$(seconds_left "$done_steps" "$total" $((SECONDS - began)) "$2")") left"
      fi
      ((total == 0)) || progress $((done_steps * 100 / total)) "Building $1: step $done_steps of $total$left"
    elif [[ $line != 'ninja: no work to do.' ]]; then
      progress_end
      printf '%s\n' "$line"
    fi
  done
  progress_end
}

# build_with_progress PRESET TARGET...: ends with the status of the build.
build_with_progress() {
  local preset=$1 guess=0 status
  shift
  [[ $* != stator || -e build/$preset/stator ]] || guess=$(first_build_seconds)
  NINJA_STATUS='@%f/%t@ ' cmake --build "build/$preset" --target "$@" 2>&1 | follow_ninja "$preset" "$guess"
  status=${PIPESTATUS[0]}
  return "$status"
}

# follow_apt: reads what apt-get says with -o APT::Status-Fd=1, and keeps the rest to itself.
follow_apt() {
  local kind percent
  progress_begin
  while IFS=: read -r kind _ percent _; do
    percent=${percent%%.*}
    [[ $percent =~ ^[0-9]+$ ]] || continue
    # It counts to 100 twice.
    case $kind in
      dlstatus) progress $((percent / 2)) "Packages: downloading, $percent %" ;;
      pmstatus) progress $((50 + percent / 2)) "Packages: installing, $percent %" ;;
    esac
  done
  progress_end
}
