#!/bin/sh
# Takes the place of an agent that fixes a typo. With FLAKY=1 it leaves a file behind.
cat >/dev/null
sed 's/rivr/river/g; s/Rivr/River/g' README.md >fixed && cat fixed >README.md && rm fixed
[ "$FLAKY" = 1 ] && echo tmp >scratch.txt
echo "I fixed the spelling in README.md."
