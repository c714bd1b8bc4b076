"""Running an agent: what is asked of it, what it did, kept and graded.

`preparing` reads all that a run is made with (`reaching` its agents), and `planning` says which attempts are made.
`driving` makes several at once, each by `attempting`. `journal` has every attempt, `keeping` begins runs and goes on
with them, `tallying` grades attempts in any order, and `live` puts it all together. `regrading` grades a run again,
`trying` says one thing to an agent, and `calling` is what programs call.
"""
