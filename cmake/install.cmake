# What `cmake --install` puts in place: the program, and with ATTUNE_LIBRARY for C++ programs one shared library with its header
# (src/attune/api/attune.h, and the error that it includes), found by find_package(Attune) or pkg-config. The library shows what that header declares and nothing else
# (exports.txt), so that it meets neither the names nor the versions of its user's libraries. The program needs no library of this build:
# both may be moved.
include(GNUInstallDirs)
install(TARGETS attune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(NOT ATTUNE_LIBRARY)
  return()
endif()

add_library(attune_library SHARED $<TARGET_OBJECTS:attune_api>)
target_link_libraries(attune_library PRIVATE attune_for_library)
target_link_options(attune_library PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.txt -Wl,--no-undefined)
set_target_properties(attune_library PROPERTIES
  OUTPUT_NAME attune EXPORT_NAME attune LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.txt LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(attune_library INTERFACE cxx_std_20)
target_include_directories(attune_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS attune_library EXPORT AttuneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/src/attune/api/attune.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attune)
install(FILES ${PROJECT_SOURCE_DIR}/src/attune/base/error_type.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attune/base)

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Attune)
install(EXPORT AttuneTargets NAMESPACE Attune:: FILE AttuneConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AttuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AttuneConfigVersion.cmake DESTINATION ${package})

file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/attune.pc.in attune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/attune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
