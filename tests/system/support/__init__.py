"""What the system tests share: processes, tunnels, backends, and a relay that misbehaves."""
