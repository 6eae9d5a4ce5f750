//! Examples and exit statuses of `nbuf size --help`.

/// What follows the options.
pub(super) const HELP: &str = "\
Examples:
  nbuf size -- grep -r unsafe src
  nbuf size --prepare 'make clean' -- make -j2
  nbuf size --html size.html -- ./query
  nbuf size --verify-at 100%,50%,25% --json -- sqlite3 my.db '.read queries.sql' > size.json
  nbuf size --target hit=0.95 --samples 5 -- ./query
  nbuf size --compare before.json after.json --budget 1.05
  sudo nbuf --as-root size --pid $(pgrep -o postgres) --for 60s
  sudo nbuf --as-root size --unit postgresql --follow --metrics 9464
  sudo nbuf --as-root size --unit postgresql --probe --max-pressure 5%
  nbuf size --server disc.sock --for 60s

Exit status:
  0    all fills were in band, none were verified, or runs found the size; B needs no more than A
  1    fills were out of band; B needs more than the budget allows; no size of --server meets the target;
       a --probe ended before its last limit
  2    usage error
  3    the command is not repeatable: without a limit it did something else than when recorded
  4    undecided: of the runs under one limit, some were in band and some were not; or no run
       of a search proved its size
  125  nbuf failed; standard error says why
  126  the command cannot be executed
  127  the command was not found
  128+n  signal n killed the recorded command, or nbuf";
