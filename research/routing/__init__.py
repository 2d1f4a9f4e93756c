"""When the bot speaks, judged over labelled lines of threads."""
