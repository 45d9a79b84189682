# SPDX-License-Identifier: MIT
#
# The bars of Figure 6.  figure6/run puts before it: terminal_type, output_file,
# panels, places[1..panels] and the blocks $data0, $data1, ...
if (terminal_type eq "svg") {
    set terminal svg size 1100,420*panels font "sans,12" background "white"
} else {
    set terminal pngcairo size 1100,420*panels font "sans,11"
}
set output output_file
set multiplot layout panels,1 title "Figure 6: speedup over the same program on the platform's own I/O"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set logscale y 2
set yrange [0.5:*]
set ylabel "times as fast"
set grid ytics lt 1 lc rgb "#dddddd"
set xtics rotate by -30 scale 0
set key top left
do for [panel=1:panels] {
    set title places[panel]
    block = sprintf("$data%d", panel - 1)
    eval "plot ".block." using 2:xtic(1) title 'relinked' lc rgb '#7fa7d1', ".\
              block." using 3 title 'on the ASI' lc rgb '#1f4e86', ".\
              block." using 4 title \"the system's own, preloaded\" lc rgb '#d19a5b', ".\
              "1 with lines lc rgb '#444444' notitle"
}
unset multiplot
