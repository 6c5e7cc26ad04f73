"""The site: pages and figures from an evidence folder, and the mathematics on them."""
