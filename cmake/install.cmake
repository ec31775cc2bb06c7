# The files of `cmake --install`, in two components: the program with its pages, and the library to link with.
#
#   cmake --install build/release --prefix FOLDER --strip --component program
#   cmake --install build/release --prefix FOLDER --component library

set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Where libraries go")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- program

# Shared libraries that are carried along are in lib/stator beside bin, wherever that is.
# In the build folder, too: the empty path that cmake would put there to make room makes the loader look for libraries
# in the folder where the program is started.
set_target_properties(stator PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/stator" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS stator RUNTIME COMPONENT program)
install(FILES LICENSE README.md CHANGELOG.md stator.yaml.example
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# The program itself prints its man pages and completions.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share\")
  foreach(folder man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
    file(MAKE_DIRECTORY \"\${share}/\${folder}\")
  endforeach()
  function(print_to file)
    execute_process(COMMAND \"${CMAKE_BINARY_DIR}/stator\" \${ARGN} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")
  endfunction()
  print_to(/dev/null man --folder \"\${share}/man/man1\")
  print_to(\"\${share}/bash-completion/completions/stator\" completion bash)
  print_to(\"\${share}/zsh/site-functions/_stator\" completion zsh)
  print_to(\"\${share}/fish/vendor_completions.d/stator.fish\" completion fish)
" COMPONENT program)

# --- library

# The headers of layers that those in include/ include.  The suite `tidy` compares.
set(published_headers
  api/answer_item.h
  api/any_request.h
  api/fault.h
  api/items/item_operations.h
  api/partiql/statement_operations.h
  api/streams/stream_operations.h
  api/tables/table_operations.h
  base/assert.h
  base/bytes.h
  base/error.h
  base/result.h
  base/unique_function.h
  base/wall_time.h
  expr/bind.h
  expr/build.h
  expr/condition.h
  expr/key_condition.h
  expr/kind.h
  expr/path.h
  expr/placeholders.h
  expr/projection.h
  expr/tree.h
  expr/update.h
  value/attribute_value.h
  value/number.h
  value/stored_item.h)

# Everything that a target links with: our archives, and other libraries as the linker names them.
function(collect_links target)
  get_property(seen GLOBAL PROPERTY install_seen)
  if(target IN_LIST seen)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY install_seen ${target})
  get_target_property(type ${target} TYPE)
  set(links "")
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(values ${target} ${property})
    if(values)
      list(APPEND links ${values})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES links)
  if(type STREQUAL "STATIC_LIBRARY")
    set_property(GLOBAL APPEND PROPERTY install_archives ${target})
  endif()
  foreach(link ${links})
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link STREQUAL "Threads::Threads" OR link MATCHES "^::@|^\\$<")
      continue()
    elseif(TARGET ${link})
      get_target_property(aliased ${link} ALIASED_TARGET)
      if(aliased)
        set(link ${aliased})
      endif()
      collect_links(${link})
    else()
      get_filename_component(name ${link} NAME)
      string(REGEX REPLACE "^lib(.*)\\.(a|so)$" "\\1" name ${name})
      set_property(GLOBAL APPEND PROPERTY install_libraries ${name})
    endif()
  endforeach()
endfunction()

collect_links(stator_library)
get_property(archives GLOBAL PROPERTY install_archives)
get_property(STATOR_LIBRARIES GLOBAL PROPERTY install_libraries)
list(REMOVE_DUPLICATES STATOR_LIBRARIES)

# One archive, without the debugger's lines: what a layer is, is nobody's business outside.
set(archive ${CMAKE_BINARY_DIR}/libstator.a)
set(merge "create libstator.a\n")
foreach(target ${archives})
  string(APPEND merge "addlib $<PATH:RELATIVE_PATH,$<TARGET_FILE:${target}>,${CMAKE_BINARY_DIR}>\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/libstator.mri CONTENT "${merge}save\nend\n")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} -M <libstator.mri
  COMMAND ${CMAKE_STRIP} --strip-debug ${archive}
  DEPENDS ${archives} ${CMAKE_BINARY_DIR}/libstator.mri
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  COMMENT "Merging libstator.a")
add_custom_target(libstator ALL DEPENDS ${archive})

list(TRANSFORM STATOR_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE STATOR_LINK_FLAGS)
list(JOIN STATOR_LINK_FLAGS " " STATOR_LINK_FLAGS)
configure_file(cmake/stator.pc.in ${CMAKE_BINARY_DIR}/stator.pc @ONLY)
configure_package_config_file(cmake/stator-config.cmake.in ${CMAKE_BINARY_DIR}/stator-config.cmake
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stator)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/stator-config-version.cmake COMPATIBILITY SameMinorVersion)
install(CODE "
  if(NOT EXISTS \"${archive}\")
    message(FATAL_ERROR \"The library is not built; cmake --build \\\"${CMAKE_BINARY_DIR}\\\" --target libstator\")
  endif()
" COMPONENT library)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library FILES_MATCHING PATTERN *.h)
foreach(header ${published_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stator/${folder} COMPONENT library)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/stator.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/stator-config.cmake ${CMAKE_BINARY_DIR}/stator-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stator COMPONENT library)
