# SPDX-License-Identifier: MIT
#
# A manual page describes several functions; each of their names, and each
# short name that <asf/asf.h> gives one, becomes a link to the page.
set(linked ${PROJECT_BINARY_DIR}/man/man3)

file(STRINGS ${PROJECT_SOURCE_DIR}/include/asf/asf.h short_names REGEX "^#define [A-Za-z_]+ +asf_[A-Za-z_]+$")
list(TRANSFORM short_names REPLACE "^#define ([A-Za-z_]+) +asf_[A-Za-z_]+$" "\\1")

file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/man/*.3)
foreach(path IN LISTS pages)
    get_filename_component(page ${path} NAME)
    configure_file(${path} ${linked}/${page} COPYONLY)
    file(STRINGS ${path} names REGEX "^\\.Nm [a-z]")
    list(TRANSFORM names REPLACE "^\\.Nm ([A-Za-z_]+).*$" "\\1")
    foreach(name IN LISTS names)
        string(REGEX REPLACE "^asf_" "" short ${name})
        if(short IN_LIST short_names)
            list(APPEND names ${short})
        endif()
    endforeach()
    foreach(name IN LISTS names)
        if(NOT ${name}.3 STREQUAL page)
            file(CREATE_LINK ${page} ${linked}/${name}.3 SYMBOLIC)
            install(FILES ${linked}/${name}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
        endif()
    endforeach()
endforeach()
