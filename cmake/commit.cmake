# Writes the commit of the sources into a C++ file, and leaves the file alone when it says so already.
#
#   cmake -DSOURCE=FOLDER -DOUTPUT=commit.cc -P commit.cmake
#
# Run by every build: the commit is known only then.  One small file depends on it, and only the program links it.

set(commit "")
if(EXISTS ${SOURCE}/.git)
  find_program(GIT git)
  if(GIT)
    # Without optional locks, so that a build does not get in the way of somebody who commits meanwhile.
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} rev-parse --short HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit AND changed)
      string(APPEND commit "-dirty")
    endif()
  endif()
else()
  # `git archive` writes the commit into this file (.gitattributes).
  file(STRINGS ${SOURCE}/cmake/archive_commit.txt commit LIMIT_COUNT 1)
endif()
if(NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
  set(commit "")
endif()

set(text "#include \"stator/cli/commit.h\"

namespace stator::cli {

extern const std::string_view kCommit = \"${commit}\";

}  // namespace stator::cli
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
