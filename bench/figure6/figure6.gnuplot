# SPDX-License-Identifier: MIT
#
# The bars of Figure 6.  figure.py prepends: terminal_type, output_file,
# panels, columns, titles[1..panels] and the blocks $data1, $data2, ... whose
# columns are x, title, relinked, relinked-128K, recompiled, asi, preloaded, system,
# busybox, toybox, uutils, limit, and the paper's two.
rows = (panels + columns - 1) / columns
width = 150 + 620 * columns
height = 170 + 300 * rows
if (terminal_type eq "svg") {
    set terminal svg size width,height font "DejaVu Sans,12" background "white" enhanced
} else {
    set terminal pngcairo size width,height font "DejaVu Sans,10" background "white" enhanced
}
set output output_file

ink = "#333333"
set border 3 lc rgb "#999999"
set style fill solid 1.0 noborder
set logscale y 2
set yrange [0.4:40]
set ytics nomirror out scale 0.5 ("½" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32) textcolor rgb ink
set grid ytics lt 1 lw 0.6 lc rgb "#e6e6e6"
set xtics nomirror scale 0 textcolor rgb ink
set multiplot layout rows,columns margins 0.06,0.98,0.05,1-150.0/height spacing 0.045,0.06


set datafile missing "?"
clip(value) = value > 39 ? 39 : value < 0.42 ? 0.42 : value
clipped(n) = valid(n) ? clip(column(n)) : 1
label_of(value) = value >= 10 ? sprintf("%.0f", value) : sprintf("%.1f", value)
above(value) = clip(value < 1 ? 1 : value)
# Bars begin at the line of 1, and go up or down.
bar(column, shift) = sprintf("using ($1%+.2f):(1):($1%+.2f):($1%+.2f):(1):(clipped(%d)) with boxxyerror", \
    shift, shift - 0.08, shift + 0.08, column)
dot(column, shift) = sprintf("using ($1%+.2f):(valid(%d) ? clipped(%d) : NaN) with points", shift, column, column)
limit = "using ($1-0.4):(valid(12) && $12 < 39 ? $12 : NaN):(0.8):(0) with vectors nohead"

set label 1 "{/:Bold*1.5 Figure 6 on this machine}" at screen 0.06,screen 1-26.0/height textcolor rgb ink
set label 2 "how many times as fast as the same program on the platform's own stdio or Unix I/O, by CPU time of the whole command" \
    at screen 0.06,screen 1-48.0/height textcolor rgb "#666666"

do for [panel=1:panels] {
    set title "{/:Bold ".titles[panel]."}" offset 0,-0.6 textcolor rgb ink
    if (panel == 1) {
        set key at screen 0.055,screen 1-62.0/height left top vertical maxrows 3 Left reverse samplen 1.5 width 1 \
            textcolor rgb ink
    } else {
        unset key
    }
    block = sprintf("$data%d ", panel)
    set xrange [*:*]
    eval "stats ".block." using 1 nooutput"
    set xrange [-0.6:STATS_max + 0.6]
    eval "plot ".\
        block.bar(3, -0.34)." lc rgb '#c9dff0' title 'relinked', ".\
        block.bar(4, -0.17)." lc rgb '#9cc0e0' title 'relinked, buffer=128K', ".\
        block.bar(5, 0.0)." lc rgb '#5f93c8' title 'compiled again', ".\
        block.bar(6, 0.17)." lc rgb '#1f4e86' title 'on the ASI', ".\
        block.bar(7, 0.34)." lc rgb '#e6b06a' title \"the system's, preloaded, over itself\", ".\
        block.limit." lw 2 lc rgb '#c0392b' title 'limit: one read, one copy', ".\
        block.bar(13, -0.34)." fs empty border lw 1.3 lc rgb '#7a5c00' title 'paper, linked to ASF', ".\
        block.bar(14, 0.17)." fs empty border lw 1.3 lc rgb '#b8860b' title 'paper, on the ASI', ".\
        block."using ($1+0.17):(above($6)):(label_of($6)) with labels offset 0,0.6 font ',8' textcolor rgb '#1f4e86' notitle, ".\
        block."using 1:(1):xtic(2) with points pt -2 notitle, ".\
        block.dot(8, -0.40)." pt 7 ps 0.8 lc rgb '#111111' title \"the system's own\", ".\
        block.dot(9, -0.13)." pt 5 ps 0.7 lc rgb '#2e8b57' title 'busybox', ".\
        block.dot(10, 0.10)." pt 9 ps 0.8 lc rgb '#8e44ad' title 'toybox', ".\
        block.dot(11, 0.40)." pt 13 ps 0.9 lc rgb '#d35400' title 'uutils', ".\
        "1 with lines lw 1 lc rgb '#666666' notitle"
}
unset multiplot
