"""Every compiled pattern in the house, against inputs made to slow it."""
