# Packages: three for Debian (the libraries, what programs need to be built with them, the program), and an archive of all. ./run package
# makes them in build/release/packages. Tested by tests/install/packages.sh.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_ALL lib dev tools)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The maintainers of Troupe <troupe@troupe.invalid>")
set(CPACK_PACKAGE_VENDOR Troupe)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

set(library libtroupe${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)      # from what the files are linked with
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_LIB_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_SUGGESTS libucx0)
set(CPACK_COMPONENT_LIB_DESCRIPTION "distributed dataflow system for machine learning: libraries
Builds, trains and runs dataflow graphs with the names and semantics of
TensorFlow's ops, on one machine or many.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtroupe-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS libcapnp-dev)  # for <troupe/service.h>
set(CPACK_COMPONENT_DEV_DESCRIPTION "distributed dataflow system for machine learning: headers
What is needed to build programs in C++ and C that use Troupe.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME troupe)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "graphviz, libucx0")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/contrib/debian/postinst)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "distributed dataflow system for machine learning: program
Trains models that run files describe, serves them, and runs the nodes of
clusters.")

install(FILES LICENSE DESTINATION share/doc/${library} COMPONENT lib RENAME copyright)
install(FILES LICENSE DESTINATION share/doc/libtroupe-dev COMPONENT dev RENAME copyright)
install(FILES LICENSE DESTINATION share/doc/troupe COMPONENT tools RENAME copyright)
include(CPack)
