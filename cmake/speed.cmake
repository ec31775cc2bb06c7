# Makes a build from nothing quick.  docs/internals/build.md has the gain of each part.  A file still includes what it
# uses, and its names are its own: the suite `each-file` compiles each one by itself, without any of this.

option(STATOR_PRECOMPILED "Compile the standard headers once" ON)
option(STATOR_TOGETHER "Compile several files of a layer at once; OFF is better when single files change often" ON)

# The standard library and fmt, which take longer to read than most of our files take to compile.

set(common_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstddef> <cstdint> <cstring> <deque>
  <filesystem> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <unordered_map> <unordered_set> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)

function(add_precompiled name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/empty_main.cc)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  # For ccache, so that it need not read the compiled headers, and does not care in which folder they were made.
  file(SHA256 ${fmt_INCLUDE}/fmt/core.h fmt_version)
  string(SHA256 checksum "${ARGN} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${fmt_version}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.gch.sum CONTENT ${checksum})
endfunction()

# A group of files is so large that g++ stops inlining in it: moves of std::string, say, which made a PutItem 6 %
# dearer.  For layers that every request passes through the limit is higher.  It is part of their precompiled headers,
# because g++ takes it from there.
set(hot_options "")
if(STATOR_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT STATOR_SANITIZE)
  set(hot_options --param=large-unit-insns=100000)
endif()

if(STATOR_PRECOMPILED)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With precompiled headers g++ 12 also warns of the inside of std::string, and wrongly.
    add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  add_precompiled(common_precompiled ${common_headers})
  add_precompiled(hot_precompiled ${common_headers})
  target_compile_options(hot_precompiled PRIVATE ${hot_options})
  if(STATOR_TESTS)
    add_precompiled(test_precompiled ${common_headers} <gtest/gtest.h>)
    target_compile_options(test_precompiled PRIVATE -Og)
  endif()
endif()

# use_precompiled(target common_precompiled)
function(use_precompiled target precompiled)
  if(STATOR_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()

# compile_together(target 16): its files in groups of so many, whose headers and templates are then compiled once.
function(compile_together target size)
  if(STATOR_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # to g++ every file is the header of its group
    endif()
  endif()
endfunction()
