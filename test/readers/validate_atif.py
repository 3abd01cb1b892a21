# Judges trajectories by Harbor's validator: one line of JSON for each file that it refuses.
import json
import sys

from harbor.utils.trajectory_validator import TrajectoryValidator

for path in sys.argv[1:]:
    validator = TrajectoryValidator()
    if not validator.validate(path):
        print(json.dumps({"file": path, "errors": [str(e)[:500] for e in validator.get_errors()]}))
