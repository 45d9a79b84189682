# SPDX-License-Identifier: MIT
#
# Horizontal bars, one for each row, in panels side by side; the dot in a row is the peer's value.  bench/report prepends:
# output_file, ink, pale, bar, dot (colours), panels, rows (of the longest panel), fewest and most (the axis has room
# for), bar_title, dot_title, and the blocks $data1, $data2, ... of y, label, value, least, greatest, peer.
panel_width = 380
row_height = 15
head = 40
set terminal svg size panel_width * panels, head + row_height * rows + 12 dynamic font "Helvetica,11" background rgb back
set output output_file
set multiplot
set logscale x 2
set xrange [(fewest < 0.95 ? fewest : 0.95) / 1.05:most * 1.5]
set border 0
set style fill solid 1.0 noborder
set xtics nomirror scale 0 offset 0,0.4 ("½" 0.5, "1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32, "64" 64) textcolor rgb ink
set grid xtics lt 1 lw 0.7 lc rgb pale
set ytics nomirror scale 0 textcolor rgb ink offset 0.6,0
height = head + row_height * rows + 12.0
do for [panel=1:panels] {
    set lmargin at screen (panel - 1 + 0.30) / panels
    set rmargin at screen (panel - 0.03) / panels
    set tmargin at screen 1 - head / height
    set bmargin at screen 12 / height + 0.02
    set yrange [rows - 0.4:-0.6]
    if (panel == 1) {
        set key at screen 0.5 / panels,screen 1 - 4 / height center top vertical samplen 1 textcolor rgb ink
    } else {
        unset key
    }
    data = sprintf("$data%d ", panel)
    peer = dot_title eq "" ? "" : data."using 6:1 with points pt 7 ps 0.55 lc rgb dot title dot_title, "
    eval "plot ". \
        data."using (1):1:(1):($3 > most ? most : $3):($1 - 0.34):($1 + 0.34) with boxxyerror lc rgb bar title bar_title, ". \
        data."using 3:1:4:5:ytic(2) with xerrorbars pt -1 lw 1 lc rgb ink notitle, ". \
        peer. \
        data."using ($5 > $6 ? $5 : $6):1:(sprintf('  %.2f', $3)) with labels left font ',9' textcolor rgb ink notitle"
}
unset multiplot
