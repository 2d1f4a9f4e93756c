"""What is measured: sets and the programs that play them. No part of the product."""
