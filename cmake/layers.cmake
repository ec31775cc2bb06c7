# stator_layer(value PUBLIC base): one folder of src/ as one library, with the layers it may use.
#
# Every layer has an include root of its own that holds a single link, stator/<folder> -> that folder, so a header of a
# layer that was not declared is not found.  PUBLIC is for layers whose types appear in our headers, EXTERNAL for
# third-party targets (PUBLIC_EXTERNAL when our headers include theirs).
#
# *_test.cc beside the code become test_<name>, *_bench.cc become bench_<name>.  TEST_LAYERS are layers only tests use.
# TESTS_IN systems puts the tests into test_systems, which several layers share.
#
# ROOMS are folders of the layer, for one that has many files.  They share its namespace, and its tests.
#
# HOT is for layers that every request passes through.  APART names files that are compiled by themselves, because they
# have private names that another file of their layer has, too.  cmake/speed.cmake has both.
# A main.cc belongs to a program, not to the layer.

set_property(GLOBAL PROPERTY GLOBAL_DEPENDS_NO_CYCLES ON)

function(stator_layer name)
  cmake_parse_arguments(L "HOT" "TESTS_IN" "PUBLIC;PRIVATE;EXTERNAL;PUBLIC_EXTERNAL;TEST_LAYERS;APART;ROOMS" ${ARGN})
  list(TRANSFORM L_PUBLIC PREPEND stator_)
  list(TRANSFORM L_PRIVATE PREPEND stator_)
  list(TRANSFORM L_TEST_LAYERS PREPEND stator_)

  list(TRANSFORM L_ROOMS APPEND /*.cc)
  file(GLOB sources CONFIGURE_DEPENDS *.cc ${L_ROOMS})
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_(test|bench)|/main)\\.cc$")
  if(NOT sources)
    message(STATUS "Layer ${name} has headers only so far and is not built")
    return()
  endif()

  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^\\.\\./" "" folder ${folder})  # systems/ stands beside src/
  set(root ${CMAKE_BINARY_DIR}/inc/${name})
  get_filename_component(parent ${root}/stator/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/stator/${folder} SYMBOLIC)

  add_library(stator_${name} STATIC ${sources})
  if(L_HOT)
    target_compile_options(stator_${name} PRIVATE ${hot_options})
    use_precompiled(stator_${name} hot_precompiled)
  else()
    use_precompiled(stator_${name} common_precompiled)
  endif()
  set_source_files_properties(${L_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  compile_together(stator_${name} 16)
  target_include_directories(stator_${name} PUBLIC ${root})
  target_link_libraries(stator_${name}
    PUBLIC ${L_PUBLIC} ${L_PUBLIC_EXTERNAL}
    PRIVATE ${L_PRIVATE} ${L_EXTERNAL})

  # Links the whole archive by itself, so that a symbol taken from a layer above is an error here.
  add_executable(link_${name} ${CMAKE_SOURCE_DIR}/cmake/empty_main.cc)
  target_link_libraries(link_${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,stator_${name}>)

  if(STATOR_TESTS AND tests)
    set(program test_${name})
    if(L_TESTS_IN)
      set(program test_${L_TESTS_IN})
    endif()
    if(NOT TARGET ${program})
      add_executable(${program} ${CMAKE_SOURCE_DIR}/cmake/test_main.cc)
      target_link_libraries(${program} PRIVATE ext::gtest)
      use_precompiled(${program} test_precompiled)
      compile_together(${program} 8)  # their private names clash in larger groups
      target_compile_options(${program} PRIVATE -Og)  # a third quicker to compile; what is tested keeps its own
      add_test(NAME ${program} COMMAND ${program})
    endif()
    target_sources(${program} PRIVATE ${tests})
    target_link_libraries(${program} PRIVATE stator_${name} ${L_PRIVATE} ${L_EXTERNAL} ${L_TEST_LAYERS})
  endif()
  if(STATOR_BENCHMARKS AND benches)
    add_executable(bench_${name} ${benches})
    target_link_libraries(bench_${name} PRIVATE
      stator_${name} ${L_PRIVATE} ${L_EXTERNAL} ${L_TEST_LAYERS} ext::benchmark)
  endif()
endfunction()
