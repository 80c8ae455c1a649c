"""Ends the process at random moments: SIGKILL, at times once more while it starts, and SIGTERM."""

from __future__ import annotations

from .actor import Actor


class Killer(Actor):
    name, pause = "killer", (0.3, 4)

    def act(self) -> None:
        self.rest(self.rng.uniform(0.2, 2))
        if self.is_stopped:
            return
        kind = self.rng.random()
        if kind < 0.65:
            self.world.process.kill()
        elif kind < 0.82:
            self.world.process.kill(again_after=self.rng.uniform(0.01, 0.5))
        else:
            self.world.process.restart()
