"""Draws docs/figures/backup_workers.svg from the table of the experiment with backup workers, and prints the table:
   python bench/paper/backup_workers.py build/release/bench/backup_workers
The experiment is simulated (backup_workers.cpp) and takes two minutes.
"""
import subprocess
import sys

from figure import draw, table_of

output = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout
print(output, end="")
rows = table_of(output)
draw("backup_workers", "50 workers and backup workers, simulated", "backup workers", "ratio to no backup workers",
     {"median round": [(row[0], row[1] / rows[0][1]) for row in rows], "gain per machine": [(row[0], row[4]) for row in rows]},
     x_ticks=range(6))
