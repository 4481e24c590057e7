#!/bin/sh
# Writes the benchmark's 100 targets: one thumbnail in each width from 100 to 199.
#
#   targets.sh http://127.0.0.1:8080 >urls.txt
set -eu
url=${1:?say the address of the image handler, such as http://127.0.0.1:8080}
width=100
while [ "$width" -lt 200 ]; do
    echo "GET $url/example.jpg?x-oss-process=image/resize,w_$width/quality,q_80/auto-orient,0/interlace,1/format,jpg"
    width=$((width + 1))
done
