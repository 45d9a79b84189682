# SPDX-License-Identifier: MIT
#
# Prints C source as "file:line:code" without comments and quoted text, so that a search finds only code.
# Keeps the operand of #include, and omits lines without code.

FNR == 1 { in_comment = 0 }

{
    code = in_comment ? strip($0) : ($0 ~ /^[ \t]*#[ \t]*include/ ? $0 : strip($0))
    if (code ~ /[^ \t]/)
        print FILENAME ":" FNR ":" code
}

# strip: returns the line without comments and quoted text; in_comment persists between lines.
function strip(line,    out, i, c, two, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (c == "\\")
                i++
            else if (c == quote) {
                quote = ""
                out = out c
            }
        } else if (two == "//") {
            break
        } else if (two == "/*") {
            in_comment = 1
            i++
        } else {
            if (c == "\"" || c == "'")
                quote = c
            out = out c
        }
    }
    return out
}
