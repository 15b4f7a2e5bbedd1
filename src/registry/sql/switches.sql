SELECT namespace, capability, paused, reason FROM capability_switches WHERE paused
