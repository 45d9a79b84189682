# SPDX-License-Identifier: MIT
#
# A manual page describes several functions; each of their names, and each
# short name that <asf/asf.h> gives one, becomes a link to the page.
set(asf_linked_manuals ${PROJECT_BINARY_DIR}/man/man3)
file(STRINGS ${PROJECT_SOURCE_DIR}/include/asf/asf.h asf_short_names REGEX "^#define [A-Za-z_]+ +asf_[A-Za-z_]+$")
list(TRANSFORM asf_short_names REPLACE "^#define ([A-Za-z_]+) +asf_[A-Za-z_]+$" "\\1")

# asf_manuals(COMPONENT FOLDER...): install the pages of these interfaces
function(asf_manuals component)
    foreach(folder IN LISTS ARGN)
        file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/interfaces/${folder}/man/*.[1-8])
        foreach(path IN LISTS pages)
            string(REGEX MATCH "[1-8]$" section ${path})
            install(FILES ${path} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
            if(section EQUAL 3)
                asf_manual_links(${component} ${path})
            endif()
        endforeach()
    endforeach()
endfunction()

function(asf_manual_links component path)
    get_filename_component(page ${path} NAME)
    configure_file(${path} ${asf_linked_manuals}/${page} COPYONLY)
    file(STRINGS ${path} names REGEX "^\\.Nm [a-z]")
    list(TRANSFORM names REPLACE "^\\.Nm ([A-Za-z_]+).*$" "\\1")
    foreach(name IN LISTS names)
        string(REGEX REPLACE "^asf_" "" short ${name})
        if(short IN_LIST asf_short_names)
            list(APPEND names ${short})
        endif()
    endforeach()
    foreach(name IN LISTS names)
        if(NOT ${name}.3 STREQUAL page)
            file(CREATE_LINK ${page} ${asf_linked_manuals}/${name}.3 SYMBOLIC)
            install(FILES ${asf_linked_manuals}/${name}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
                    COMPONENT ${component})
        endif()
    endforeach()
endfunction()
