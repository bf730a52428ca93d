"""Settings: defaults < config.sh < .ralph.toml < environment < flags."""
