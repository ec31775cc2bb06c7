# Flags every target is built with.

add_compile_options(
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 takes the unused half of a std::optional or std::variant for an uninitialised value.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 uses what it deprecates itself, in std::stable_sort.
  add_compile_options(-Wthread-safety -Wno-deprecated-declarations)
endif()

# Headers that are installed have macros that only our own sources see.
add_compile_definitions(STATOR_SOURCES)

# Assertions and full optimisation together: a database that goes on with a broken invariant is worse than one that stops.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

# Relocations that only add the address where the program is loaded, as bits: 20 KB that a start reads, not 900.  Needs
# glibc 2.36 when the program runs.
add_link_options(LINKER:-z,pack-relative-relocs)

if(STATOR_SANITIZE)
  # g++ spends more than half of its time on what -O1 makes of the undefined-behaviour checks; -Og has the same checks,
  # compiles twice as fast and runs the tests as fast.
  if(STATOR_SANITIZE MATCHES "undefined")
    add_compile_options(-Og)
  else()
    add_compile_options(-O1)
  endif()
  add_compile_options(-fsanitize=${STATOR_SANITIZE} -g1)
  add_link_options(-fsanitize=${STATOR_SANITIZE})
  if(STATOR_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
    add_link_options(-fno-sanitize-recover=all)
  endif()
  if(STATOR_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # ccache needs this to cache files that use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
